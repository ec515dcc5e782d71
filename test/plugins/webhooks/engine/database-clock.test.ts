import t from 'tap';
import { DatabaseClock } from '../../../../plugins/webhooks/engine/database-clock.ts';

/** A clock of the database an hour ahead of the machine's, whose two clocks a test moves. */
function estimated() {
  const machine = { wall: 1_000_000, monotonic: 500 };
  const clock = new DatabaseClock({ now: () => machine.wall, monotonic: () => machine.monotonic });
  clock.set(4_600_000);
  const pass = (wallMs: number, monotonicMs: number): number => {
    machine.wall += wallMs;
    machine.monotonic += monotonicMs;
    return clock.now();
  };
  return { clock, pass };
}

t.test('between two transactions the time of the database runs on', async (t) => {
  const { clock, pass } = estimated();
  t.equal(pass(2_000, 2_000), 4_602_000);
  t.equal(pass(-3_600_000, 0), 4_602_000, 'whatever the wall clock is set back to');
  clock.set(4_700_000);
  t.equal(pass(900, 100), 4_700_100, 'or corrected by');
});

t.test('it includes the time for which the machine was suspended', async (t) => {
  const { clock, pass } = estimated();
  t.equal(pass(7_200_000, 10), 4_600_000 + 7_200_000, 'the monotonic clock does not count it');
  t.equal(pass(5, 5), 4_600_000 + 7_200_005);
  clock.set(20_000_000);
  t.equal(pass(5, 5), 20_000_005, 'once, as the next transaction has it');
});
