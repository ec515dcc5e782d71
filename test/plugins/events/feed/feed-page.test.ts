import t from 'tap';
import { pageOf } from '../../../../plugins/events/feed/feed-page.ts';

const event = (sequence: number, accountId: string | null, type = 'message.sent' as const) => ({
  id: `evt_${sequence}`,
  type,
  sequence,
  createdAt: 1_000 + sequence,
  payload: JSON.stringify({ account_id: accountId }),
});

const found = [event(4, 'acc_1'), event(5, 'acc_2'), event(7, null), event(8, 'acc_1')];
const all = { types: null, accounts: null, limit: 10 };
const position = { after: 3, since: null, at: 900 };

t.test('a page ends behind its last event, and says whether there is more', async (t) => {
  const whole = pageOf(found, 10, all, position);
  t.same(
    whole.events.map(({ sequence, accountId }) => [sequence, accountId]),
    [
      [4, 'acc_1'],
      [5, 'acc_2'],
      [7, null],
      [8, 'acc_1'],
    ],
  );
  t.same(whole.position, { after: 8, since: null, at: 1_008 });
  t.equal(whole.hasMore, false);
  const cut = pageOf(found, 10, { ...all, limit: 2 }, position);
  t.same([cut.events.length, cut.position.after, cut.hasMore], [2, 5, true]);
  const short = pageOf(found, 3, all, position);
  t.same([short.events.length, short.position.after, short.hasMore], [3, 7, true]);
});

t.test('events that the reader does not want are passed', async (t) => {
  const page = (filter: object, from: object = {}) =>
    pageOf(found, 3, { ...all, ...filter }, { ...position, ...from });
  const numbers = ({ events }: ReturnType<typeof page>) => events.map(({ sequence }) => sequence);
  t.same(numbers(page({ accounts: new Set(['acc_1']) })), [4], 'of its accounts');
  const none = page({ types: new Set(['message.read']) });
  t.same([none.events, none.position.after, none.hasMore], [[], 7, true], 'of its types');
  t.same(numbers(page({}, { since: 1_005 })), [5, 7], 'of its time');
});

t.test('where nothing was read a reader stays', async (t) => {
  t.same(pageOf([], 10, all, position), { events: [], position, hasMore: false });
});
