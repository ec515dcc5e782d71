import t from 'tap';
import type { GuardSettings } from '../../../plugins/limits/contract.ts';
import {
  guardSettings,
  loopGuard,
  makeLimitRules,
  openerBurst,
  safetyHold,
  safetySince,
} from '../../../plugins/limits/rules.ts';

const settings = guardSettings({
  loop_guard: { messages: 3, window_s: 60 },
  opener_burst: { openers: 2, window_s: 60 },
  safety: { refusals: 3, window_s: 600, hold_s: 3600 },
});

const noon = Date.parse('2026-03-10T12:00:00.000Z');

t.test('caps come from the plan, the mode and the day of the ramp', async (t) => {
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

t.test('a guard refuses what comes too often, and says until when', async (t) => {
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

t.test('refused openers count as far as they can restrict', async (t) => {
  const since = (...seconds: number[]) =>
    noon -
    safetySince(
      settings.safety,
      seconds.map((s) => noon - s * 1000),
      noon,
    );
  t.equal(since(1, 2), 600_000, 'short of it: all of the window');
  t.equal(since(4, 1, 3, 2, 601), 3_000, 'as many as restrict');
  t.equal(since(-5, -6, -7, 1), 600_000, 'not what lies ahead of a clock that was set back');
});

t.test('a clock that was set back fills no window', async (t) => {
  const ahead = [3_590, 3_595, 3_600].map((seconds) => noon + seconds * 1000);
  const { loopGuard: loop, openerBurst: burst, safety } = settings;
  t.equal(loopGuard(loop, ahead, ahead, noon), null);
  t.equal(openerBurst(burst, ahead, noon), null);
  t.equal(safetyHold(safety, ahead, noon), null);
  t.equal(
    openerBurst(burst, [...ahead, noon - 1000, noon], noon),
    59_000,
    'what came since counts',
  );
});
