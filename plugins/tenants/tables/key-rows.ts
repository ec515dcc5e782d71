import { type Scope, scopes } from '../../../core/scopes.ts';
import type { ApiKey } from '../contract.ts';

/** The columns of a key that are read. */
export interface KeyRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly hint: string;
  readonly name: string | null;
  readonly scopes: string | null;
  readonly account_ids: string | null;
  readonly confirm_sends: number;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

/** The columns that say what a key may do. */
export type RightColumns = Pick<KeyRow, (typeof rights)[number]>;

export const rights = ['scopes', 'account_ids', 'confirm_sends'] as const;
export const columns = [
  ...(['id', 'tenant_id', 'hint', 'name'] as const),
  ...rights,
  ...(['created_at', 'expires_at', 'last_used_at', 'revoked_at'] as const),
];

/** The key in a row. */
export function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    hint: row.hint,
    name: row.name,
    ...rightsOf(row),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    revokedAt: row.revoked_at,
  };
}

/** What the key in a row may do. */
export function rightsOf(
  row: RightColumns,
): Pick<ApiKey, 'scopes' | 'accountIds' | 'confirmSends'> {
  const { account_ids: ids, confirm_sends: confirms } = row;
  return {
    scopes: scopesOf(row),
    accountIds: ids === null ? null : ids.split(','),
    confirmSends: confirms === 1,
  };
}

/** What is stored and no scope any more allows nothing. */
function scopesOf({ scopes: stored }: Pick<KeyRow, 'scopes'>): readonly Scope[] | null {
  if (stored === null) return null;
  const names = stored.split(',');
  return scopes.filter((scope) => names.includes(scope));
}
