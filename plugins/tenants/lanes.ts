import type { Lane } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import type { NewKey, Tenant, TenantUpdate } from './contract.ts';
import { changeFeatures } from './features.ts';
import { hashed } from './keys.ts';

/** A tenant to be made, with its first key. */
interface Creation {
  readonly tenant: Omit<Tenant, 'createdAt'>;
  readonly key: NewKey;
}

/** Makes tenants with their first keys. Repeatable: the ids and the key come with the input. */
export const createTenantLane: Lane<Creation, Tenant> = {
  name: 'tenants.create',
  locks: () => [],
  run: async (unit, inputs) => {
    const there = await unit.tenants.find(inputs.map(({ tenant }) => tenant.id));
    const made = inputs.map(
      ({ tenant }) => there.get(tenant.id) ?? { ...tenant, createdAt: unit.now },
    );
    await unit.tenants.insert(made.filter(({ id }) => !there.has(id)));
    await unit.apiKeys.insertMissing(
      inputs.map(({ tenant, key }) => hashed(key, tenant.id, unit.now)),
    );
    return made;
  },
};

/** A change of one tenant; the names of all features come with it. */
interface Change {
  readonly id: string;
  readonly update: TenantUpdate;
  readonly features: readonly string[];
}

/** Changes tenants under their locks; null for one that does not exist. */
export const updateTenantLane: Lane<Change, Tenant | null> = {
  name: 'tenants.update',
  locks: ({ id }) => [`tenant:${id}`],
  run: async (unit, inputs) => {
    const tenants = new Map(await unit.tenants.find(inputs.map(({ id }) => id)));
    const answers: (Tenant | null)[] = [];
    for (const { id, update, features } of inputs) {
      const tenant = tenants.get(id);
      if (tenant === undefined || tenant.status === 'deleted') {
        answers.push(null);
        continue;
      }
      const changes = {
        plan: update.plan ?? tenant.plan,
        status: update.status ?? tenant.status,
        disabled: changeFeatures(tenant.disabled, update, features),
      };
      await unit.tenants.change(id, changes);
      const changed = { ...tenant, ...changes };
      tenants.set(id, changed);
      answers.push(changed);
    }
    return answers;
  },
};

/** A tenant to be deleted; the names of all features come with it. */
type Deletion = Omit<Change, 'update'>;

/**
 * Deletes tenants: from now on their keys are useless, and what they had is erased in steps. Answers the tenant as it was;
 * null for one that does not exist.
 */
export const deleteTenantLane: Lane<Deletion, Tenant | null> = {
  name: 'tenants.delete',
  maxBatch: 1,
  locks: ({ id }) => [`tenant:${id}`],
  run: oneByOne(async (unit, { id, features }) => {
    const tenant = (await unit.tenants.find([id])).get(id) ?? null;
    if (tenant === null || tenant.status === 'deleted') return tenant;
    await unit.apiKeys.revokeOf(id, unit.now);
    await unit.tenants.change(id, { status: 'deleted', disabled: features });
    await unit.erasures.begin({ id, tenantId: id, contactId: null, address: null }, unit.now);
    return tenant;
  }),
};
