import t from 'tap';
import { localDeadline } from '../../../plugins/cluster/process-lease.ts';

t.test('the local deadline is shorter than the lease', async (t) => {
  t.equal(localDeadline(500, { leaseMs: 9_000, isAlone: false }), 8_500);
  t.equal(localDeadline(0, { leaseMs: 2_000, isAlone: false }), 1_500);
  t.equal(localDeadline(100, { leaseMs: 15_000, isAlone: false }), 14_100, 'a second before');
  t.equal(localDeadline(100, { leaseMs: 2_000, isAlone: false }), 1_600);
  t.equal(localDeadline(0, { leaseMs: 2_000, isAlone: true }), Number.POSITIVE_INFINITY);
});
