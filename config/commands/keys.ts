import type { Cradle } from '../../core/container.ts';
import { GatewayError } from '../../core/errors.ts';
import { nullableTimestamp, timestamp } from '../../core/schemas.ts';
import { type Output, table } from './output.ts';
import { noTenant } from './tenants.ts';

type Tenants = Cradle['tenants'];
type KeySettings = Parameters<Tenants['createKey']>[1];

/** `keys create` */
export async function createKey(
  tenants: Tenants,
  tenantId: string,
  settings: KeySettings,
): Promise<Output> {
  const key = await tenants.createKey(tenantId, settings);
  if (key === null) throw noTenant(tenantId);
  return {
    json: { key: key.key, key_id: key.id, tenant_id: tenantId },
    text: `${key.id}, shown only this once: ${key.key}`,
  };
}

/** `keys list` */
export async function listKeys(tenants: Tenants, tenantId: string): Promise<Output> {
  const keys = await tenants.listKeys(tenantId);
  if (keys === null) throw noTenant(tenantId);
  const shown = keys.map((key) => ({
    id: key.id,
    tenant_id: key.tenantId,
    hint: key.hint,
    name: key.name,
    scopes: key.scopes,
    account_ids: key.accountIds,
    created_at: timestamp(key.createdAt),
    expires_at: nullableTimestamp(key.expiresAt),
    confirm_sends: key.confirmSends,
    last_used_at: nullableTimestamp(key.lastUsedAt),
    revoked_at: nullableTimestamp(key.revokedAt),
  }));
  return {
    json: { keys: shown },
    text: table(
      [
        'ID',
        'KEY',
        'NAME',
        'SCOPES',
        'ACCOUNTS',
        'CREATED',
        'EXPIRES',
        'CONFIRMS',
        'LAST USED',
        'REVOKED',
      ],
      shown.map((key) => [
        ...[key.id, key.hint, key.name ?? '', key.scopes?.join() ?? 'all'],
        ...[key.account_ids?.join() ?? 'all', key.created_at, key.expires_at ?? 'never'],
        ...[key.confirm_sends ? 'sends' : '', key.last_used_at ?? 'never', key.revoked_at ?? ''],
      ]),
    ),
  };
}

/** `keys revoke` */
export async function revokeKey(tenants: Tenants, keyId: string): Promise<Output> {
  const key = await tenants.revokeKey(keyId);
  if (key === null) {
    throw new GatewayError('not_found', { message: `There is no key "${keyId}".` });
  }
  const revokedAt = nullableTimestamp(key.revokedAt);
  return {
    json: { key_id: key.id, tenant_id: key.tenantId, revoked_at: revokedAt },
    text: `${key.id} is revoked since ${revokedAt}`,
  };
}
