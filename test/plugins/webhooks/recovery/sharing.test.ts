import t from 'tap';
import { inOrderOfTurns, roomOf } from '../../../../plugins/webhooks/recovery/sharing.ts';

const share = (webhookId: string, waiting: number, movedAt: number, goesOut = true) => ({
  ...{ webhookId, waiting, movedAt, goesOut },
});

t.test('recoveries of one URL alternate', async (t) => {
  const all = [share('d', 0, 2), share('c', 0, 1), share('b', 0, 1), share('a', 1, 0)];
  t.equal(
    inOrderOfTurns(all)
      .map(({ webhookId }) => webhookId)
      .join(),
    'b,c,d,a',
  );
  t.equal(roomOf(3, all), 1, 'one each time');
  t.equal(roomOf(1, all), 0);
  t.equal(roomOf(3, [share('a', 1, 0)]), 2, 'one alone takes what is left');
  t.equal(roomOf(1, [share('a', 2, 0)]), 0);
  const off = share('off', 1, 0, false);
  t.same(inOrderOfTurns([off]), []);
  t.equal(roomOf(4, [share('a', 1, 0), off]), 2, 'what waits of one that is off counts');
});
