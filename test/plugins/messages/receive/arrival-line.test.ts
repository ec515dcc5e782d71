import t from 'tap';
import type { MessageEvent } from '../../../../core/contracts/driver.ts';
import { ArrivalLine, whoseTurn } from '../../../../plugins/messages/receive/arrival-line.ts';

t.test(
  'files of several contacts are fetched at once, and their messages keep their order',
  async (t) => {
    const line = new ArrivalLine();
    const begun: string[] = [];
    const done: string[] = [];
    const release = new Map<string, () => void>();
    const media = { kind: 'image', mimeType: null, fileName: null, size: null, url: null } as const;
    const arrive = async (who: string, text: string, hasFile = true): Promise<void> => {
      const from = { phone: null, networkId: who, name: null };
      await line
        .prepare({ from, media: hasFile ? media : null }, async () => {
          begun.push(text);
          if (hasFile) await new Promise<void>((resolve) => release.set(text, resolve));
          if (text === 'b1') throw new Error('its session ended');
        })
        .catch(() => done.push('failed'));
      done.push(text);
    };
    const settle = () => new Promise((resolve) => setTimeout(resolve, 10));
    const all = [
      ...[
        arrive('ada', 'a1'),
        arrive('ada', 'a2'),
        arrive('ben', 'b1'),
        arrive('ben', 'hi', false),
      ],
      ...[arrive('cy', 'c1'), arrive('di', 'd1'), arrive('ed', 'e1')],
    ];
    await settle();
    t.same(begun, ['a1', 'b1', 'c1', 'd1'], 'four at once, of each contact one');
    for (const text of ['b1', 'c1']) release.get(text)?.();
    await settle();
    t.same(begun.slice(4), ['e1'], 'nobody waits for the room of another');
    t.same(done, [], 'the first is still on its way');
    release.get('a1')?.();
    await settle();
    t.same(begun.slice(5), ['a2']);
    for (const text of ['a2', 'd1', 'e1']) release.get(text)?.();
    await Promise.all(all);
    t.same(done, ['a1', 'a2', 'failed', 'b1', 'hi', 'c1', 'd1', 'e1']);
  },
);

t.test('which inbound messages of a batch are stored', async (t) => {
  const [one, other] = [new ArrivalLine(), new ArrivalLine()];
  const event = (text: string): MessageEvent => {
    const from = { phone: '+12025550123', networkId: null, name: null };
    return { type: 'message', networkId: text, from, text, media: null, at: 1 };
  };
  const [a, b, c, x] = [event('a'), event('b'), event('c'), event('x')];
  for (const each of [a, b, c]) one.enter(each);
  other.enter(x);
  const turn = (...batch: readonly MessageEvent[]) =>
    [...whoseTurn(batch.map((each) => ({ line: each === x ? other : one, event: each })))].map(
      ({ text }) => text,
    );
  t.same(turn(a, x, b, c), ['a', 'x', 'b', 'c']);
  t.same(turn(b, c), [], 'the first is not among them');
  t.same(turn(a, c, x), ['a', 'x'], 'one is missing between');
  t.same(turn(b, c, a), ['a'], 'the first goes, wherever it stands');
  t.same(turn(b, a, c), ['a']);
  t.same(turn(a, c, b), ['a', 'b']);
  one.leave(a);
  t.same(turn(c, b), ['b']);
});
