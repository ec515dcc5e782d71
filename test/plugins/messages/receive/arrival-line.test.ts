import t from 'tap';
import type { MessageEvent } from '../../../../core/contracts/driver.ts';
import { ArrivalLine, whoseTurn } from '../../../../plugins/messages/receive/arrival-line.ts';

const phone = '+12025550123';
const media = { kind: 'image', mimeType: null, fileName: null, size: null, url: null } as const;

function event(text: string, networkId: string | null, itsPhone: string | null = phone) {
  const from = { phone: itsPhone, networkId, name: null };
  const message: MessageEvent = {
    type: 'message',
    networkId: text,
    from,
    text,
    media: null,
    at: 1,
  };
  return message;
}

t.test(
  'files of several contacts are fetched at once, and each contact keeps its order',
  async (t) => {
    const line = new ArrivalLine();
    const begun: string[] = [];
    const done: string[] = [];
    const release = new Map<string, () => void>();
    const arrive = async (who: string, text: string, hasFile = true): Promise<void> => {
      const message = { ...event(text, who, null), media: hasFile ? media : null };
      line.enter(message);
      await line
        .prepare(message, async () => {
          begun.push(text);
          if (hasFile) await new Promise<void>((resolve) => release.set(text, resolve));
          if (text === 'b1') throw new Error('its session ended');
        })
        .catch(() => done.push('failed'));
      done.push(text);
      line.leave(message);
    };
    const settle = () => new Promise((resolve) => setTimeout(resolve, 10));
    const all = [
      ...[
        arrive('ada', 'a1'),
        arrive('ada', 'a2'),
        arrive('ben', 'b1'),
        arrive('ben', 'hi', false),
      ],
      ...[arrive('cy', 'c1'), arrive('di', 'd1'), arrive('ed', 'e1'), arrive('fay', 'f', false)],
    ];
    await settle();
    t.same(begun, ['a1', 'b1', 'c1', 'd1', 'f'], 'four files at once, of each contact one');
    t.same(done, ['f'], 'a text of somebody else waits for none');
    for (const text of ['b1', 'c1']) release.get(text)?.();
    await settle();
    t.same(begun.slice(5), ['e1', 'hi'], 'nobody waits for the room of another');
    t.same(done.slice(1), ['failed', 'b1', 'c1', 'hi'], 'while the first is on its way');
    release.get('a1')?.();
    await settle();
    t.same(begun.slice(7), ['a2']);
    for (const text of ['a2', 'd1', 'e1']) release.get(text)?.();
    await Promise.all(all);
    t.same(done.slice(5), ['a1', 'a2', 'd1', 'e1']);
  },
);

t.test('which inbound messages of a batch are stored', async (t) => {
  const [one, other] = [new ArrivalLine(), new ArrivalLine()];
  const [a, b, c] = [event('a', null), event('b', null), event('c', null)];
  const x = event('x', null);
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

t.test('a file holds up its own contact alone, by whichever address', async (t) => {
  const line = new ArrivalLine();
  const [before, text, other] = [event('0', 'x'), event('1', 'y', null), event('2', 'y', null)];
  const film = { ...event('film', 'x', null), media };
  const [both, shown, hidden] = [event('3', 'x'), event('4', null), event('5', 'x', null)];
  for (const one of [before, text, film, both, shown, hidden, other]) line.enter(one);
  const turn = (...batch: readonly MessageEvent[]) =>
    [...whoseTurn(batch.map((one) => ({ line, event: one })))].map(({ text }) => text);
  t.same(turn(film, both, other), [], 'texts keep the order of all contacts');
  t.same(turn(before, film, text, other), ['0', 'film', '1', '2']);
  for (const one of [before, text]) line.leave(one);
  t.same(turn(both, shown, hidden, other), ['2']);
  t.same(turn(film, both, shown, hidden), ['film', '3', '4', '5']);
});
