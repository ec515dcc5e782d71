import { secondsMs } from '../../core/durations.ts';
import type { TenantMode } from '../tenants/contract.ts';
import type { Caps, GuardSettings, LimitRules, PlanCaps } from './contract.ts';
import { dayOf, rampDayOf, secondsToMidnight } from './days.ts';

/** Below this a ramp never goes, unless the plan itself does. */
const floor: Caps = { sends: 20, newContacts: 5 };

/** How long a ramp is that a tenant asked for although its plan has none. */
const usualRampDays = 14;

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
    safetySince: (refusals, now) => safetySince(guards.safety, refusals, now),
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
    loopGuard: { messages: loop_guard.messages, windowMs: secondsMs(loop_guard.window_s) },
    openerBurst: { openers: opener_burst.openers, windowMs: secondsMs(opener_burst.window_s) },
    safety: {
      refusals: safety.refusals,
      windowMs: secondsMs(safety.window_s),
      holdMs: secondsMs(safety.hold_s),
    },
  };
}

/**
 * How many days the accounts of a tenant warm up: as its plan says, test tenants only when they were
 * made with a ramp.
 */
function rampDaysOf(plan: PlanCaps, mode: TenantMode, ramp: boolean): number {
  if (ramp) return plan.ramp_days === 0 ? usualRampDays : plan.ramp_days;
  return mode === 'live' ? plan.ramp_days : 0;
}

/**
 * What one account may send on a day: on day n of a ramp of d days n/d of the plan, rounded up, at
 * least 20 sends and 5 new contacts and never more than the plan.
 * @param rampDay null without a ramp: the plan's own caps
 */
function capsOf(plan: PlanCaps, rampDay: number | null, rampDays: number): Caps {
  const share = (cap: number, least: number): number =>
    rampDay === null ? cap : Math.min(cap, Math.max(least, Math.ceil((cap * rampDay) / rampDays)));
  return {
    sends: share(plan.sends_cap, floor.sends),
    newContacts: share(plan.new_contacts_cap, floor.newContacts),
  };
}

/**
 * The loop guard: two bots that reply to each other.
 * @param outbound times of the latest messages to a contact, in any order
 * @param inbound times of its latest messages
 * @returns milliseconds until the next send to it would pass, or null when it passes now
 */
export function loopGuard(
  settings: GuardSettings['loopGuard'],
  outbound: readonly number[],
  inbound: readonly number[],
  now: number,
): number | null {
  const sent = fullUntil(outbound, settings.messages, settings.windowMs, now);
  const received = fullUntil(inbound, settings.messages, settings.windowMs, now);
  return sent === null || received === null ? null : Math.min(sent, received);
}

/**
 * The opener burst: too many first messages of one account.
 * @param openers times of the account's latest accepted openers, in any order
 * @returns milliseconds until the next opener would pass, or null when it passes now
 */
export function openerBurst(
  settings: GuardSettings['openerBurst'],
  openers: readonly number[],
  now: number,
): number | null {
  return fullUntil(openers, settings.openers, settings.windowMs, now);
}

/**
 * The safety restriction: an account whose openers are refused again and again.
 * @param refusals times of the account's latest refused openers, the one just refused included
 * @returns until when the account is restricted, or null when it is not
 */
export function safetyHold(
  settings: GuardSettings['safety'],
  refusals: readonly number[],
  now: number,
): number | null {
  const full = fullUntil(refusals, settings.refusals, settings.windowMs, now) !== null;
  return full ? now + settings.holdMs : null;
}

/**
 * Since when refused openers count for the safety restriction: earlier ones are out of its window, or as many as
 * restrict the account came after them.
 * @param refusals times of the account's latest refused openers
 */
export function safetySince(
  settings: GuardSettings['safety'],
  refusals: readonly number[],
  now: number,
): number {
  const { refusals: count, windowMs } = settings;
  return now - windowMs + (fullUntil(refusals, count, windowMs, now) ?? 0);
}

/**
 * How long a sliding window stays full: until the `count`-th newest of the times leaves it. Null when it is not
 * full, or when a count of 0 turns the guard off. Times ahead of now do not count: the clock was set back since, and
 * they would fill the window until they come again.
 */
function fullUntil(
  times: readonly number[],
  count: number,
  windowMs: number,
  now: number,
): number | null {
  if (count === 0) return null;
  const newest = times.filter((at) => at > now - windowMs && at <= now).sort((a, b) => b - a);
  const leaving = newest[count - 1];
  return leaving === undefined ? null : leaving + windowMs - now;
}
