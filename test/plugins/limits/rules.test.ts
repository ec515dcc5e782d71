import t from 'tap';
import { guardSettings, makeLimitRules } from '../../../plugins/limits/rules.ts';

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
