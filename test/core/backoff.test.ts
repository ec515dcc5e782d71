import t from 'tap';
import { doubled, spread } from '../../core/backoff.ts';

t.test('a pause doubles with each failure, up to the longest', async (t) => {
  for (const [failures, pauseMs] of [
    [0, 250],
    [1, 500],
    [5, 8_000],
    [6, 15_000],
    [2_000, 15_000],
  ] as const) {
    t.equal(doubled(250, failures, 15_000), pauseMs, String(failures));
  }
});

t.test('a spread pause differs by no more than its share', async (t) => {
  const pauses = Array.from({ length: 1_000 }, () => spread(1_000, 0.2));
  t.ok(pauses.every((pauseMs) => pauseMs >= 800 && pauseMs < 1_200));
  t.ok(Math.min(...pauses) < 900 && Math.max(...pauses) > 1_100);
  t.equal(spread(1_000, 0), 1_000);
});
