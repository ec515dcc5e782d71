import type { Lane } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import type { AuditRecord } from '../audit/contract.ts';
import type { ApiKey, NewKey, Tenant, TenantMode } from './contract.ts';
import { offByDefault } from './features.ts';
import { hashed } from './keys.ts';

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
  /** The id of the entry that a preset key leaves in the audit when it is new. */
  readonly entryId: string;
}

/** The result of `begin` for one mode. */
export interface Begun {
  readonly mode: TenantMode;
  /** This very call made the tenant. */
  readonly made: boolean;
  /** The preset key was revoked by an operator, or its tenant deleted, and stays so. */
  readonly revoked: boolean;
  /** The preset key that this very call has stored; null: none was given, or it was there. */
  readonly added: Pick<ApiKey, 'id' | 'tenantId'> | null;
}

/** Who makes preset keys, as the audit names it. */
export const configuration = 'configuration';

/**
 * Makes the first pair of tenants, or finds the one that is there, and lets preset keys in. A column that is
 * unique decides between processes that start at once.
 */
export const beginTenantLane: Lane<readonly FirstTenant[], readonly Begun[]> = {
  name: 'tenants.begin',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit, pair) => {
    await unit.tenants.insertFirst(pair.map((wanted) => firstTenant(wanted, unit.now)));
    const first = new Map((await unit.tenants.first()).map((tenant) => [tenant.mode, tenant]));
    const begun: Begun[] = [];
    for (const { mode, id, key, preset, entryId } of pair) {
      const tenant = first.get(mode);
      const made = tenant?.id === id;
      const isDeleted = tenant?.status === 'deleted';
      if (tenant === undefined || isDeleted || !(made || preset)) {
        begun.push({ mode, made: false, revoked: isDeleted && preset, added: null });
        continue;
      }
      const record = hashed(key, tenant.id, unit.now);
      await unit.apiKeys.insertMissing([record]);
      const [stored] = await unit.apiKeys.findByHash([record.hash]);
      const isNew = stored?.id === record.id;
      const added = isNew && preset ? record : null;
      if (added !== null) await unit.audit.insertMissing([entryOf(entryId, added, unit.now)]);
      begun.push({ mode, made, revoked: stored?.revokedAt !== null, added });
    }
    return begun;
  }),
};

function firstTenant({ id, mode, name, plan }: FirstTenant, createdAt: number): Tenant {
  return { id, mode, name, plan, status: 'active', disabled: offByDefault, ramp: false, createdAt };
}

/** The entry of a preset key, stored in the same transaction, so that neither is without the other. */
function entryOf(id: string, { id: target, tenantId }: ApiKey, at: number): AuditRecord {
  const who = { actor: configuration, operation: 'create_key', requestId: null };
  return { id, tenantId, target, at, outcome: 'done', ...who };
}
