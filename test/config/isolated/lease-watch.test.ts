import t from 'tap';
import { LeaseWatch } from '../../../config/isolated/lease-watch.ts';
import { SharedDeadline } from '../../../core/shared-deadline.ts';

t.test('checks a deadline when it comes, and every 100 ms before and after it', async (t) => {
  const timers = t.capture(globalThis, 'setTimeout', () => undefined);
  const waitMs = (leftMs: number): unknown => {
    const deadline = Object.defineProperty(new SharedDeadline(), 'leftMs', { value: leftMs });
    new LeaseWatch(deadline).start();
    return timers()[0]?.args[1];
  };
  t.equal(waitMs(Number.POSITIVE_INFINITY), 100);
  t.equal(waitMs(3_600_000), 100);
  t.equal(waitMs(50), 50);
  t.equal(waitMs(0.2), 1);
  t.equal(waitMs(0), 100, 'also while no lease is held');
  t.equal(waitMs(Number.NEGATIVE_INFINITY), 100);
});
