import t from 'tap';
import { RateLimiter } from '../../../plugins/api/rate.ts';

t.test('a key is slowed down beyond its requests per second, and free again later', async (t) => {
  const rate = new RateLimiter(10);
  const passed = (key: string, now: number, calls: number) =>
    Array.from({ length: calls }, () => rate.take(key, now)).filter((wait) => wait === 0).length;
  t.equal(passed('a', 0, 30), 20, 'twice the rate at once');
  t.equal(rate.take('a', 0), 0.1, 'then the time until the next one');
  t.equal(passed('a', 99, 1), 0);
  t.equal(passed('a', 100, 2), 1, 'one more after a tenth of a second');
  t.equal(passed('b', 100, 30), 20, 'each key for itself');
  t.equal(passed('a', 9_000, 30), 20, 'never more than the burst');
  t.equal(rate.size, 2);
  t.equal(rate.take('d', 0, 15), 0);
  t.equal(rate.take('d', 0, 10), 0.5, 'a request may cost more');
  t.equal(rate.take('e', 0, 1_000), 0, 'and never more than there can be');
  t.equal(rate.take('e', 0), 0.1);
  rate.take('c', 30_000);
  t.equal(rate.size, 1, 'buckets that are full again are dropped');
  const slow = new RateLimiter(0.25);
  t.equal(slow.take('a', 0), 0);
  t.equal(slow.take('a', 1_000), 3);
});
