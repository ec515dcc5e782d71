import t from 'tap';
import type { MessageEvent } from '../../../../core/contracts/driver.ts';
import { ArrivalLine, whoseTurn } from '../../../../plugins/messages/receive/arrival-line.ts';

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
