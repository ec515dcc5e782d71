import type { Caps, PlanCaps } from './contract.ts';

/** Below this a ramp never goes, unless the plan itself does. */
const floor: Caps = { sends: 20, newContacts: 5 };

/** How long a ramp is that a tenant asked for although its plan has none. */
const usualRampDays = 14;

/**
 * How many days the accounts of a tenant warm up: as its plan says, test tenants only when they were
 * made with a ramp.
 */
export function rampDaysOf(plan: PlanCaps, mode: 'live' | 'test', ramp: boolean): number {
  if (ramp) return plan.ramp_days === 0 ? usualRampDays : plan.ramp_days;
  return mode === 'live' ? plan.ramp_days : 0;
}

/**
 * What one account may send on a day: on day n of a ramp of d days n/d of the plan, rounded up, at
 * least 20 sends and 5 new contacts and never more than the plan.
 * @param rampDay null without a ramp: the plan's own caps
 */
export function capsOf(plan: PlanCaps, rampDay: number | null, rampDays: number): Caps {
  const share = (cap: number, least: number): number =>
    rampDay === null ? cap : Math.min(cap, Math.max(least, Math.ceil((cap * rampDay) / rampDays)));
  return {
    sends: share(plan.sends_cap, floor.sends),
    newContacts: share(plan.new_contacts_cap, floor.newContacts),
  };
}
