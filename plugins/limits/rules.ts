import { capsOf, rampDaysOf } from './caps.ts';
import type { GuardSettings, LimitRules, PlanCaps } from './contract.ts';
import { dayOf, rampDayOf, secondsToMidnight } from './days.ts';
import { loopGuard, openerBurst, safetyHold } from './guards.ts';

/**
 * Ties the pure rules to one process's settings.
 * @param planOf finds a plan by its name
 */
export function makeLimitRules(
  guards: GuardSettings,
  planOf: (name: string) => PlanCaps,
): LimitRules {
  return {
    guards,
    day: dayOf,
    secondsToMidnight,
    caps(tenant, account, at) {
      const plan = planOf(tenant.plan);
      const days = rampDaysOf(plan, tenant.mode, tenant.ramp);
      const rampDay = rampDayOf(account.rampDayOne, days, at);
      return {
        tenant: capsOf(plan, null, days),
        account: capsOf(plan, rampDay, days),
        rampDay,
      };
    },
    loopGuard: (outbound, inbound, now) => loopGuard(guards.loopGuard, outbound, inbound, now),
    openerBurst: (openers, now) => openerBurst(guards.openerBurst, openers, now),
    safetyHold: (refusals, now) => safetyHold(guards.safety, refusals, now),
  };
}

/** The settings of the guards, `config.limits`, with their times in milliseconds. */
export function guardSettings(limits: {
  readonly loop_guard: { readonly messages: number; readonly window_s: number };
  readonly opener_burst: { readonly openers: number; readonly window_s: number };
  readonly safety: {
    readonly refusals: number;
    readonly window_s: number;
    readonly hold_s: number;
  };
}): GuardSettings {
  const { loop_guard, opener_burst, safety } = limits;
  return {
    loopGuard: { messages: loop_guard.messages, windowMs: loop_guard.window_s * 1000 },
    openerBurst: { openers: opener_burst.openers, windowMs: opener_burst.window_s * 1000 },
    safety: {
      refusals: safety.refusals,
      windowMs: safety.window_s * 1000,
      holdMs: safety.hold_s * 1000,
    },
  };
}
