import type { Lane, Tables } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ApiKey, KeySettings, NewKey, Tenant, TenantMode, TenantUpdate } from './contract.ts';
import { changeFeatures, offByDefault } from './features.ts';
import { hashed } from './keys.ts';

/** A tenant to be made, with its first key. */
interface Creation {
  readonly tenant: Omit<Tenant, 'createdAt'>;
  readonly key: NewKey;
}

/** Makes tenants with their first keys. Repeatable: the ids and the key come with the input. */
export const createTenants: Lane<Creation, Tenant> = {
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
export const updateTenants: Lane<Change, Tenant | null> = {
  name: 'tenants.update',
  locks: ({ id }) => [`tenant:${id}`],
  run: async (unit, inputs) => {
    const tenants = new Map(await unit.tenants.find(inputs.map(({ id }) => id)));
    const answers: (Tenant | null)[] = [];
    for (const { id, update, features } of inputs) {
      const tenant = tenants.get(id);
      if (tenant === undefined) {
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

/** A key to be made. */
export interface KeyCreation {
  readonly tenantId: string;
  readonly key: NewKey;
  readonly settings: KeySettings;
}

/** The most keys of a tenant that are neither revoked nor expired. */
const mostKeys = 100;

/** Adds keys to tenants under their locks. Repeatable: the id and the key come with the input. */
export const createKeys: Lane<KeyCreation, 'made' | 'no_tenant' | GatewayError> = {
  name: 'keys.create',
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  run: async (unit, inputs) => {
    const tenants = await unit.tenants.find(inputs.map(({ tenantId }) => tenantId));
    const answers: ('made' | 'no_tenant' | GatewayError)[] = [];
    for (const input of inputs) {
      const isThere = (await unit.apiKeys.find(input.key.id)) !== null;
      const refusal = isThere ? null : await keyRefusal(unit, input);
      if (!tenants.has(input.tenantId)) answers.push('no_tenant');
      else if (refusal !== null) answers.push(refusal);
      else {
        const { key, tenantId, settings } = input;
        await unit.apiKeys.insertMissing([hashed(key, tenantId, unit.now, settings)]);
        answers.push('made');
      }
    }
    return answers;
  },
};

async function keyRefusal(
  unit: Tables & { readonly now: number },
  { tenantId, settings: { accountIds, expiresAt } }: KeyCreation,
): Promise<GatewayError | null> {
  if (expiresAt !== null && expiresAt <= unit.now) {
    const message = 'body/expires_at is over already';
    const details = [{ path: 'body/expires_at', message }];
    return new GatewayError('invalid_request', { message, details });
  }
  const accounts = accountIds === null ? [] : await unit.accounts.ofTenants([tenantId]);
  const unknown = accountIds?.find((id) => !accounts.some((account) => account.id === id));
  if (unknown !== undefined) {
    const message = `There is no account "${unknown}".`;
    return new GatewayError('account_not_found', { message });
  }
  if ((await unit.apiKeys.countCurrent(tenantId)) < mostKeys) return null;
  return new GatewayError('key_cap');
}

/** Revokes keys by id; null for one that does not exist, or is not the named tenant's. */
export const revokeKeys: Lane<
  { readonly id: string; readonly tenantId: string | null },
  ApiKey | null
> = {
  name: 'keys.revoke',
  locks: () => [],
  run: async (unit, inputs) => {
    const answers: (ApiKey | null)[] = [];
    for (const { id, tenantId } of inputs) {
      const key = await unit.apiKeys.find(id);
      const isNamed = key !== null && (tenantId === null || key.tenantId === tenantId);
      if (isNamed) await unit.apiKeys.revoke(id, unit.now);
      answers.push(isNamed ? await unit.apiKeys.find(id) : null);
    }
    return answers;
  },
};

/** Stores when keys were used last. */
export const storeKeyUse: Lane<{ readonly id: string; readonly at: number }, void> = {
  name: 'keys.used',
  locks: () => [],
  run: async (unit, uses) => {
    // In one order, so that two processes never wait for each other.
    const inOrder = [...uses].sort((one, other) => (one.id < other.id ? -1 : 1));
    for (const { id, at } of inOrder) await unit.apiKeys.used(id, at);
    return uses.map(() => undefined);
  },
};

/** One half of the first pair. */
interface FirstTenant {
  readonly mode: TenantMode;
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  /** The key if this call makes the tenant. */
  readonly key: NewKey;
  /** The key is a preset one, good also when the tenant is there already. */
  readonly preset: boolean;
}

/** The result of `begin` for one mode. */
export interface Begun {
  readonly mode: TenantMode;
  /** This very call made the tenant. */
  readonly made: boolean;
  /** The preset key was revoked by an operator and stays so. */
  readonly revoked: boolean;
}

/**
 * Makes the first pair of tenants, or finds the one that is there, and lets preset keys in. A column that is
 * unique decides between processes that start at once.
 */
export const beginTenants: Lane<readonly FirstTenant[], readonly Begun[]> = {
  name: 'tenants.begin',
  maxBatch: 1,
  locks: () => [],
  run: async (unit, inputs) => {
    const answers: (readonly Begun[])[] = [];
    for (const pair of inputs) {
      await unit.tenants.insertFirst(pair.map((wanted) => firstTenant(wanted, unit.now)));
      const first = new Map((await unit.tenants.first()).map((tenant) => [tenant.mode, tenant]));
      const begun: Begun[] = [];
      for (const { mode, id, key, preset } of pair) {
        const tenant = first.get(mode);
        const made = tenant?.id === id;
        if (tenant === undefined || !(made || preset)) {
          begun.push({ mode, made: false, revoked: false });
          continue;
        }
        const record = hashed(key, tenant.id, unit.now);
        await unit.apiKeys.insertMissing([record]);
        const [stored] = await unit.apiKeys.findByHash([record.hash]);
        begun.push({ mode, made, revoked: stored?.revokedAt !== null });
      }
      answers.push(begun);
    }
    return answers;
  },
};

function firstTenant({ id, mode, name, plan }: FirstTenant, createdAt: number): Tenant {
  return { id, mode, name, plan, status: 'active', disabled: offByDefault, ramp: false, createdAt };
}
