import type { Sql } from '../../../core/contracts/sql.ts';
import type { ApiKey, Tenant, TenantRow } from '../contract.ts';
import { toTenant } from './tenants.ts';

/** A key as it is stored. */
export interface HashedKey extends ApiKey {
  /** SHA-256 of the key, hex. */
  readonly hash: string;
}

/** Whose key it is. */
export interface KeyOwner {
  readonly keyId: string;
  readonly tenant: Tenant;
}

interface KeyRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly hint: string;
  readonly created_at: number;
  readonly revoked_at: number | null;
}

const columns = ['id', 'tenant_id', 'hint', 'created_at', 'revoked_at'] as const;

/** The SQL of API keys. */
export class ApiKeyTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** Adds keys; one whose hash is there already, revoked or not, is left as it is. */
  async insertMissing(keys: readonly HashedKey[]): Promise<void> {
    await this.db.insertIgnore(
      'api_keys',
      keys.map((key) => ({
        id: key.id,
        tenant_id: key.tenantId,
        hash: key.hash,
        hint: key.hint,
        created_at: key.createdAt,
        revoked_at: key.revokedAt,
      })),
    );
  }

  /** The owner of the key with this hash; null when it is unknown or revoked. One statement. */
  async ownerOf(hash: string): Promise<KeyOwner | null> {
    const row: (TenantRow & { readonly key_id: string }) | undefined = await this.db
      .knex('api_keys')
      .join('tenants', 'tenants.id', 'api_keys.tenant_id')
      .where('api_keys.hash', hash)
      .whereNull('api_keys.revoked_at')
      .first('tenants.*', { key_id: 'api_keys.id' });
    return row === undefined ? null : { keyId: row.key_id, tenant: toTenant(row) };
  }

  /** The keys with these hashes. */
  async findByHash(hashes: readonly string[]): Promise<readonly ApiKey[]> {
    const rows: KeyRow[] = await this.db
      .knex('api_keys')
      .select(columns)
      .whereIn('hash', [...hashes]);
    return rows.map(toKey);
  }

  /** The key with this id, or null. */
  async find(id: string): Promise<ApiKey | null> {
    const row: KeyRow | undefined = await this.db.knex('api_keys').where({ id }).first(columns);
    return row === undefined ? null : toKey(row);
  }

  /** A tenant's keys, oldest first, revoked ones included. */
  async ofTenant(tenantId: string): Promise<readonly ApiKey[]> {
    const rows: KeyRow[] = await this.db
      .knex('api_keys')
      .select(columns)
      .where({ tenant_id: tenantId })
      .orderBy([{ column: 'created_at' }, { column: 'id' }]);
    return rows.map(toKey);
  }

  /** Revokes a key; one that is revoked keeps its time. */
  async revoke(id: string, at: number): Promise<void> {
    await this.db.knex('api_keys').where({ id }).whereNull('revoked_at').update({ revoked_at: at });
  }
}

function toKey(row: KeyRow): ApiKey {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    hint: row.hint,
    createdAt: Number(row.created_at),
    revokedAt: row.revoked_at === null ? null : Number(row.revoked_at),
  };
}
