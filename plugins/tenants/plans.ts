import type { Plan, Plans } from './contract.ts';

/** A plan that is gone from the configuration: it allows nothing. */
const nothing: Plan = {
  sends_cap: 0,
  new_contacts_cap: 0,
  accounts_cap: 0,
  channels: false,
  webhooks: false,
  ramp_days: 0,
};

/** The plans of the configuration. */
export function configuredPlans(plans: Readonly<Record<string, Plan>>): Plans {
  return {
    plan: (name) => (Object.hasOwn(plans, name) ? (plans[name] ?? nothing) : nothing),
    names: () => Object.keys(plans),
  };
}
