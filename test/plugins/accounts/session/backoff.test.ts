import t from 'tap';
import { jittered, nextPause } from '../../../../plugins/accounts/session/backoff.ts';

t.test('pauses between tries to reconnect', async (t) => {
  const row = (tries: number, lostForMs: number, maxMs: number, from = 0): readonly number[] => {
    const pauses = [from];
    while (pauses.length <= tries) pauses.push(nextPause(pauses.at(-1) ?? 0, lostForMs, maxMs));
    return pauses.slice(1).map((ms) => ms / 1_000);
  };
  t.same(row(6, 0, 300_000), [1, 2, 4, 8, 15, 15], 'dense at first');
  t.same(row(3, 299_999, 300_000, 15_000), [15, 15, 15], 'for five minutes');
  t.same(row(6, 300_000, 300_000, 15_000), [30, 60, 120, 240, 300, 300], 'then ever longer');
  t.same(row(3, 0, 1_500), [1, 1.5, 1.5], 'never longer than the setting');
  t.equal(nextPause(0, 0, 20), 20);
  t.equal(jittered(4_000, 0.5), 3_000);
  t.ok(jittered(1_000, 0.999_999) >= 500, 'at most half is taken off');
});
