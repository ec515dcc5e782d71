import t from 'tap';
import type { GuardSettings } from '../../../plugins/limits/contract.ts';
import { dayOf, rampDayOf, secondsToMidnight } from '../../../plugins/limits/days.ts';
import { loopGuard, openerBurst, safetyHold } from '../../../plugins/limits/guards.ts';
import { guardSettings, makeLimitRules } from '../../../plugins/limits/rules.ts';

const settings = guardSettings({
  loop_guard: { messages: 3, window_s: 60 },
  opener_burst: { openers: 2, window_s: 60 },
  safety: { refusals: 3, window_s: 600, hold_s: 3600 },
});
const noon = Date.parse('2026-03-10T12:00:00.000Z');

t.test('days', async (t) => {
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

t.test('the day of a ramp', async (t) => {
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

t.test('caps by plan, mode and ramp', async (t) => {
  const plans: Record<string, { sends_cap: number; new_contacts_cap: number; ramp_days: number }> =
    {
      free: { sends_cap: 50, new_contacts_cap: 10, ramp_days: 0 },
      growth: { sends_cap: 2000, new_contacts_cap: 400, ramp_days: 14 },
      tiny: { sends_cap: 10, new_contacts_cap: 2, ramp_days: 14 },
    };
  const rules = makeLimitRules(
    settings,
    (name) => plans[name] ?? { sends_cap: 0, new_contacts_cap: 0, ramp_days: 0 },
  );
  const caps = (plan: string, mode: 'live' | 'test', ramp: boolean, dayOne: string | null) => {
    const { tenant, account, rampDay } = rules.caps(
      { plan, mode, ramp },
      { id: 'acc_1', rampDayOne: dayOne },
      noon,
    );
    return [tenant.sends, tenant.newContacts, account.sends, account.newContacts, rampDay];
  };
  t.same(caps('growth', 'live', false, '2026-03-10'), [2000, 400, 143, 29, 1]);
  t.same(caps('growth', 'live', false, '2026-03-04'), [2000, 400, 1000, 200, 7]);
  t.same(caps('growth', 'live', false, '2026-02-25'), [2000, 400, 2000, 400, 14]);
  t.same(caps('growth', 'live', false, '2026-02-24'), [2000, 400, 2000, 400, null], 'past it');
  t.same(caps('growth', 'live', false, null), [2000, 400, 2000, 400, null], 'never connected');
  t.same(caps('growth', 'test', false, '2026-03-10'), [2000, 400, 2000, 400, null], 'test mode');
  t.same(caps('growth', 'test', true, '2026-03-10'), [2000, 400, 143, 29, 1], 'made with one');
  t.same(caps('free', 'live', false, '2026-03-10'), [50, 10, 50, 10, null]);
  t.same(caps('free', 'live', true, '2026-03-10'), [50, 10, 20, 5, 1], 'at least 20 and 5');
  t.same(caps('tiny', 'live', false, '2026-03-10'), [10, 2, 10, 2, 1], 'never above the plan');
});

t.test('guards', async (t) => {
  const ago = (...seconds: number[]) => seconds.map((s) => noon - s * 1000);
  const loop = (outbound: number[], inbound: number[], own = settings.loopGuard) =>
    loopGuard(own, outbound, inbound, noon);
  t.equal(loop(ago(1, 2, 3), ago(1, 2)), null, 'one side is short of it');
  t.equal(loop(ago(1, 2, 3), ago(1, 2, 61)), null, 'outside of the window');
  t.equal(loop(ago(1, 2, 3), ago(1, 2, 60)), null, 'at its edge');
  t.equal(loop(ago(50, 40, 30, 20), ago(10, 5, 1)), 20_000, 'until the first side clears');
  t.equal(loop(ago(10, 5, 1), ago(50, 20, 40)), 10_000);
  t.equal(loop(ago(1, 1, 1), ago(1, 1, 1), { messages: 0, windowMs: 60_000 }), null, 'off');

  const burst = (openers: number[], own: GuardSettings['openerBurst'] = settings.openerBurst) =>
    openerBurst(own, openers, noon);
  t.equal(burst(ago(1)), null);
  t.equal(burst(ago(1, 59)), 1000);
  t.equal(burst(ago(59, 30, 1)), 30_000, 'until the second newest leaves');
  t.equal(burst(ago(1, 1, 1), { openers: 0, windowMs: 60_000 }), null, 'off');

  t.equal(safetyHold(settings.safety, ago(1, 2), noon), null);
  t.equal(safetyHold(settings.safety, ago(0, 1, 599), noon), noon + 3_600_000);
  t.equal(safetyHold(settings.safety, ago(0, 1, 601), noon), null);
  t.equal(safetyHold({ ...settings.safety, refusals: 0 }, ago(0, 1, 2), noon), null, 'off');
});
