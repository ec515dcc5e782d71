import type { Cradle } from '../../core/container.ts';
import { GatewayError } from '../../core/errors.ts';
import { nullableTimestamp, timestamp } from '../../core/schemas.ts';
import { type Output, table } from './output.ts';
import { noTenant } from './tenants.ts';

type Tenants = Cradle['tenants'];

/** `keys create` */
export async function createKey(tenants: Tenants, tenantId: string): Promise<Output> {
  const key = await tenants.createKey(tenantId);
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
    created_at: timestamp(key.createdAt),
    revoked_at: nullableTimestamp(key.revokedAt),
  }));
  return {
    json: { keys: shown },
    text: table(
      ['ID', 'KEY', 'CREATED', 'REVOKED'],
      shown.map((key) => [key.id, key.hint, key.created_at, key.revoked_at ?? '']),
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
