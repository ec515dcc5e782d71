import t from 'tap';
import { dayOf, rampDayOf, secondsToMidnight } from '../../../plugins/limits/days.ts';

t.test('a day of the caps is a day of UTC', async (t) => {
  t.equal(dayOf(Date.parse('2026-03-10T23:59:59.999Z')), '2026-03-10');
  t.equal(dayOf(Date.parse('2026-03-11T00:00:00.000Z')), '2026-03-11');
  for (const [at, seconds] of [
    ['2026-03-10T00:00:00.000Z', 86_400],
    ['2026-03-10T12:00:00.000Z', 43_200],
    ['2026-03-10T23:59:58.001Z', 2],
    ['2026-03-10T23:59:59.999Z', 1],
  ] as const) {
    t.equal(secondsToMidnight(Date.parse(at)), seconds, at);
  }
});

t.test('a ramp counts the days since an account was connected', async (t) => {
  const at = (day: string) => Date.parse(`${day}T23:00:00.000Z`);
  for (const [dayOne, day, rampDays, expected] of [
    [null, '2026-03-10', 14, null],
    ['2026-03-10', '2026-03-10', 14, 1],
    ['2026-03-10', '2026-03-11', 14, 2],
    ['2026-03-10', '2026-03-23', 14, 14],
    ['2026-03-10', '2026-03-24', 14, null],
    ['2026-03-10', '2026-03-10', 0, null],
    ['2026-02-27', '2026-03-01', 14, 3],
    // A clock that was set back.
    ['2026-03-10', '2026-03-09', 14, 1],
  ] as const) {
    t.equal(rampDayOf(dayOne, rampDays, at(day)), expected, `${dayOne} ${day} ${rampDays}`);
  }
});
