import type { Storage } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { newId } from '../../core/ids.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Plans, Tenants } from './contract.ts';
import { changeFeatures, featureNames, offByDefault } from './features.ts';
import { beginTenants } from './first-tenants.ts';
import { createKeyLane, revokeKeyLane } from './key-lanes.ts';
import { refuseTooWide } from './key-rights.ts';
import { newKey, unlimited } from './keys.ts';
import { createTenantLane, deleteTenantLane, updateTenantLane } from './lanes.ts';

/** Dependencies of the service. */
export interface TenantsParts {
  readonly storage: Storage;
  readonly plans: Plans;
  readonly channels: readonly string[];
  readonly log: GatewayLog;
}

/** Makes the management of tenants and keys. */
export function tenantsService(parts: TenantsParts): Tenants {
  return {
    ...ofTenants(parts),
    ...ofKeys(parts),
    begin: (presets) => beginTenants(parts, presets),
  };
}

type KeysService = Pick<Tenants, 'createKey' | 'listKeys' | 'revokeKey'>;

/** What is about tenants themselves. */
function ofTenants({
  storage,
  plans,
  channels,
  log,
}: TenantsParts): Omit<Tenants, keyof KeysService | 'begin'> {
  const features = featureNames(channels);
  const knownPlan = (name: string) => {
    if (plans.names().includes(name)) return name;
    throw new GatewayError('invalid_request', {
      message: `There is no plan "${name}"; there are ${plans.names().join(', ')}.`,
    });
  };
  return {
    create: async ({ name, mode, plan, ramp }) => {
      const id = newId('ten');
      const key = newKey(mode);
      const tenant = await storage.submit(createTenantLane, {
        tenant: {
          id,
          name: tenantName(name),
          mode,
          plan: knownPlan(plan),
          status: 'active',
          disabled: offByDefault,
          ramp,
        },
        key,
      });
      log.info({ tenant: id, mode, plan, key: key.id }, 'a tenant was made, with its first key');
      return { tenant, key };
    },
    list: () => storage.read.tenants.list(),
    update: async (id, update) => {
      if (update.plan !== undefined) knownPlan(update.plan);
      changeFeatures([], update, features);
      const tenant = await storage.submit(updateTenantLane, { id, update, features });
      if (tenant !== null) {
        const { plan, status, disabled } = tenant;
        log.info({ tenant: id, plan, status, disabled }, 'a tenant was changed');
      }
      return tenant;
    },
    delete: async (id) => {
      const tenant = await storage.submit(deleteTenantLane, { id, features });
      if (tenant !== null) log.info({ tenant: id }, 'a tenant was deleted');
      return tenant;
    },
    counts: async (id) => {
      const isThere = (await storage.read.tenants.list()).some((tenant) => tenant.id === id);
      return isThere ? storage.read.tenantRows.counts(id) : null;
    },
    features: ({ disabled }) => features.filter((name) => !disabled.includes(name)),
  };
}

/** What is about their keys. */
function ofKeys({ storage, log }: TenantsParts): KeysService {
  return {
    createKey: async (tenantId, settings = unlimited, makerId) => {
      if (settings.name !== null) refuseName('key', settings.name);
      refuseTooWide(settings);
      const tenant = (await storage.read.tenants.find([tenantId])).get(tenantId);
      if (tenant === undefined) return null;
      const key = newKey(tenant.mode);
      const made = await storage.submit(createKeyLane, {
        ...{ tenantId, key, settings },
        makerId: makerId ?? null,
      });
      if (made === 'no_tenant') return null;
      if (made !== 'made') throw made;
      const { scopes, accountIds } = settings;
      log.info({ tenant: tenantId, key: key.id, scopes, accountIds }, 'a key was made');
      return key;
    },
    listKeys: async (tenantId) => {
      const tenants = await storage.read.tenants.find([tenantId]);
      return tenants.has(tenantId) ? storage.read.apiKeys.ofTenant(tenantId) : null;
    },
    revokeKey: async (keyId, tenantId) => {
      const found = await storage.read.apiKeys.find(keyId);
      if (found === null || (tenantId ?? found.tenantId) !== found.tenantId) return null;
      const key = await storage.submit(revokeKeyLane, found);
      if (key !== null) log.info({ tenant: key.tenantId, key: keyId }, 'a key was revoked');
      return key;
    },
  };
}

function tenantName(name: string): string {
  const trimmed = name.trim();
  refuseName('tenant', trimmed);
  return trimmed;
}

function refuseName(of: 'tenant' | 'key', name: string): void {
  // Code points, as the schema of a key's name counts.
  if (name.trim() !== '' && [...name].length <= 100) return;
  throw new GatewayError('invalid_request', {
    message: `The name of a ${of} must have 1 to 100 characters.`,
  });
}
