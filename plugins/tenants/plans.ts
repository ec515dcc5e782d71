import type { Plan, Plans } from './contract.ts';
import type { TenantTable } from './tables/tenants.ts';

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

/** The names of plans that tenants have and the configuration does not. */
export async function unknownPlans(
  tenants: Pick<TenantTable, 'plans'>,
  { names }: Pick<Plans, 'names'>,
): Promise<readonly string[]> {
  const known = new Set(names());
  return (await tenants.plans()).filter((name) => !known.has(name));
}
