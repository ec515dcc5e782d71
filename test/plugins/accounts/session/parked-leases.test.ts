import t from 'tap';
import { ParkedLeases } from '../../../../plugins/accounts/session/parked-leases.ts';

t.test('a lease that comes back is kept for twice as long, an hour at most', async (t) => {
  let now = 0;
  const parked = new ParkedLeases({ monotonic: () => now });
  const lease = { id: 'acc_1', owner: 'this process', number: 1 };
  const keptMs = (): number => {
    parked.keep(lease);
    const since = now;
    while (parked.due.length === 0) now += 1_000;
    parked.leave(parked.due);
    return now - since;
  };
  const minutes = Array.from({ length: 8 }, () => keptMs() / 60_000);
  t.same(minutes, [1, 2, 4, 8, 16, 32, 64, 64]);
  t.same(parked.left, ['acc_1']);
  now += 60_000;
  t.same(parked.left, [], 'and left to others for a minute');
  parked.delete('acc_1');
  t.equal(keptMs(), 60_000, 'one that was opened here begins anew');
});

t.test('a lease that was left for a connect comes back after it, and is kept as long', (t) => {
  let now = 0;
  const parked = new ParkedLeases({ monotonic: () => now });
  const lease = { id: 'acc_1', owner: 'this process', number: 1 };
  parked.keep(lease);
  parked.leaveFor(lease, 10_000);
  t.notOk(parked.has('acc_1'));
  t.same(parked.left, ['acc_1']);
  now += 10_000;
  t.same(parked.left, []);
  parked.keep(lease);
  now += 60_000;
  t.same(parked.due, [lease]);
  t.end();
});
