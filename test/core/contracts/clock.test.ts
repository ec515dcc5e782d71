import t from 'tap';
import { systemClock } from '../../../core/contracts/clock.ts';

t.test('the clock tells the time of day, and never goes back', async (t) => {
  const { now, monotonic } = systemClock;
  t.ok(Math.abs(now() - Date.now()) < 1_000);
  const before = monotonic();
  t.ok(before <= monotonic());
});
