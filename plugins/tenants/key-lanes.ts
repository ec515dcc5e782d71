import type { Lane, Tables } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { wrongField } from '../../core/field-refusals.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { type PruneLane, pruneLane } from '../../core/pruning.ts';
import { writeLane } from '../../core/write-lane.ts';
import type { ApiKey, KeySettings, NewKey } from './contract.ts';
import type { KeyUseNote } from './key-use.ts';
import { hashed } from './keys.ts';

/** A key to be made. */
export interface KeyCreation {
  readonly tenantId: string;
  readonly key: NewKey;
  readonly settings: KeySettings;
  /** The key that makes it; null: an operator does. */
  readonly makerId: string | null;
}

/** The most keys of a tenant that are neither revoked nor expired. */
const mostKeys = 100;

/** Adds keys to tenants under their locks. Repeatable: the id and the key come with the input. */
export const createKeyLane: Lane<KeyCreation, 'made' | 'no_tenant' | GatewayError> = {
  name: 'keys.create',
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  run: async (unit, inputs) => {
    const tenants = await unit.tenants.find(inputs.map(({ tenantId }) => tenantId));
    const answers: ('made' | 'no_tenant' | GatewayError)[] = [];
    for (const input of inputs) {
      const isThere = (await unit.apiKeys.find(input.key.id)) !== null;
      const refusal = isThere ? null : await keyRefusal(unit, input);
      const tenant = tenants.get(input.tenantId);
      if (tenant === undefined || tenant.status === 'deleted') answers.push('no_tenant');
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
  { tenantId, makerId, settings: { accountIds, expiresAt } }: KeyCreation,
): Promise<GatewayError | null> {
  // Its request may have begun before it was revoked, which takes the same lock.
  if (makerId !== null && !(await unit.apiKeys.isCurrent(makerId))) {
    return new GatewayError('unauthorized');
  }
  if (expiresAt !== null && expiresAt <= unit.now) {
    return wrongField('body/expires_at', 'must be in the future');
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

/** Revokes keys under the locks of their tenants, so that none makes another one afterwards; null for one that is gone. */
export const revokeKeyLane: Lane<Pick<ApiKey, 'id' | 'tenantId'>, ApiKey | null> = {
  name: 'keys.revoke',
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  run: oneByOne(async (unit, { id }) => {
    await unit.apiKeys.revoke(id, unit.now);
    return await unit.apiKeys.find(id);
  }),
};

/** Stores when keys were used last. */
export const storeKeyUseLane = writeLane<KeyUseNote>('keys.used', async ({ apiKeys }, uses) => {
  // In one order, so that two processes never wait for each other.
  const inOrder = [...uses].sort((one, other) => (one.id < other.id ? -1 : 1));
  for (const { id, at } of inOrder) await apiKeys.used(id, at);
});

/** Makes the lane that deletes keys that ended long ago. @param except hashes of keys that stay */
export function pruneKeys(except: readonly string[]): PruneLane {
  return pruneLane('keys.prune', ({ apiKeys }, { before, limit }) =>
    apiKeys.deleteEnded(before, limit, except),
  );
}
