import { olderThan, SqlTable } from '../../../core/contracts/sql.ts';
import type { ListPosition } from '../../../core/list-position.ts';
import type { ApiKey, Tenant, TenantRow } from '../contract.ts';
import { columns, type KeyRow, type RightColumns, rights, rightsOf, toKey } from './key-rows.ts';
import { toTenant } from './tenants.ts';

/** A key as it is stored. */
export interface HashedKey extends ApiKey {
  /** SHA-256 of the key, hex. */
  readonly hash: string;
}

/** Whose key it is. */
export interface KeyOwner {
  readonly key: Pick<ApiKey, 'id' | 'scopes' | 'accountIds' | 'confirmSends'>;
  readonly tenant: Tenant;
}

/** Filter of a page of keys. */
export interface KeyFilter {
  /** Upper bound, exclusive, by creation time and id; null for the newest. */
  readonly before: ListPosition | null;
  readonly limit: number;
}

/** Index in whose order the keys of a tenant are listed. */
const listIndex = 'api_keys_tenant_id_revoked_at_created_at_id';

/** The SQL of API keys. */
export class ApiKeyTable extends SqlTable {
  /** Adds keys; one whose hash is there already, revoked or not, is left as it is. */
  async insertMissing(keys: readonly HashedKey[]): Promise<void> {
    await this.db.insertIgnore(
      'api_keys',
      keys.map((key) => ({
        id: key.id,
        tenant_id: key.tenantId,
        hash: key.hash,
        hint: key.hint,
        name: key.name,
        scopes: key.scopes?.join() ?? null,
        account_ids: key.accountIds?.join() ?? null,
        confirm_sends: key.confirmSends ? 1 : 0,
        created_at: key.createdAt,
        expires_at: key.expiresAt,
        last_used_at: key.lastUsedAt,
        revoked_at: key.revokedAt,
      })),
    );
  }

  /** The owner of the key with this hash; null when it is unknown, revoked or expired. One statement. */
  async ownerOf(hash: string): Promise<KeyOwner | null> {
    const row: (TenantRow & RightColumns & { readonly key_id: string }) | undefined =
      await this.#current()
        .join('tenants', 'tenants.id', 'api_keys.tenant_id')
        .where('api_keys.hash', hash)
        .first('tenants.*', ...rights.map((column) => `api_keys.${column}`), {
          key_id: 'api_keys.id',
        });
    if (row === undefined) return null;
    return { key: { ...rightsOf(row), id: row.key_id }, tenant: toTenant(row) };
  }

  /** Whether the key is neither revoked nor expired, by the database's clock. */
  async isCurrent(id: string): Promise<boolean> {
    return (await this.#current().where('api_keys.id', id).first('api_keys.id')) !== undefined;
  }

  /** How many of a tenant's keys are neither revoked nor expired. */
  async countCurrent(tenantId: string): Promise<number> {
    const { clock } = this.db;
    // Two ranges of one index: what has ended is not read, however much it is.
    const [row] = await this.db.rows<{ readonly found: number }>(
      `select (
         select count(*) from api_keys where tenant_id = ? and revoked_at is null and expires_at is null
       ) + (
         select count(*) from api_keys where tenant_id = ? and revoked_at is null and expires_at > ${clock}
       ) as found`,
      [tenantId, tenantId],
    );
    return row?.found ?? 0;
  }

  #current() {
    const { knex, clock } = this.db;
    return knex('api_keys')
      .whereNull('api_keys.revoked_at')
      .where((either) =>
        either.whereNull('api_keys.expires_at').orWhereRaw(`api_keys.expires_at > ${clock}`),
      );
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

  /** The hash of the key with this id, or null. */
  async hashOf(id: string): Promise<string | null> {
    const row: Pick<HashedKey, 'hash'> | undefined = await this.db
      .knex('api_keys')
      .where({ id })
      .first('hash');
    return row?.hash ?? null;
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

  /** A page of a tenant's keys that are not revoked, newest first. */
  async page(tenantId: string, { before, limit }: KeyFilter): Promise<readonly ApiKey[]> {
    const { knex, dialect } = this.db;
    // Without the hint MariaDB and MySQL read the list from its newest key on for a page in the middle.
    const from =
      dialect === 'mysql' ? knex.raw('?? force index (??)', ['api_keys', listIndex]) : 'api_keys';
    const query = knex
      .from(from)
      .select(columns)
      .where('tenant_id', tenantId)
      .whereNull('revoked_at');
    if (before !== null) olderThan(query, before);
    const rows: KeyRow[] = await query
      .orderBy([
        { column: 'created_at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit);
    return rows.map(toKey);
  }

  /**
   * Deletes a bounded number of keys that ended before a moment; answers how many. Those without a name stay: a key of the
   * configuration among them would be let in anew.
   * @param except hashes of keys that stay as well
   */
  async deleteEnded(moment: number, limit: number, except: readonly string[]): Promise<number> {
    const { knex } = this.db;
    const ended = (column: 'expires_at' | 'revoked_at', most: number): Promise<string[]> =>
      knex('api_keys')
        .where(column, '<', moment)
        .whereNotNull('name')
        .whereNotIn('hash', [...except])
        .limit(most)
        .pluck('id');
    const ids = await ended('expires_at', limit);
    if (ids.length < limit) ids.push(...(await ended('revoked_at', limit - ids.length)));
    const wanted = [...new Set(ids)];
    if (wanted.length > 0) await knex('api_keys').whereIn('id', wanted).delete();
    return ids.length;
  }

  /** Stores when keys were used last; never an earlier moment than is there. */
  async used(id: string, at: number): Promise<void> {
    await this.db
      .knex('api_keys')
      .where({ id })
      .where((either) => either.whereNull('last_used_at').orWhere('last_used_at', '<', at))
      .update({ last_used_at: at });
  }

  /** Revokes all keys of a tenant. */
  async revokeOf(tenantId: string, at: number): Promise<void> {
    await this.db
      .knex('api_keys')
      .where('tenant_id', tenantId)
      .whereNull('revoked_at')
      .update({ revoked_at: at });
  }

  /** Revokes a key; one that is revoked keeps its time. */
  async revoke(id: string, at: number): Promise<void> {
    await this.db.knex('api_keys').where({ id }).whereNull('revoked_at').update({ revoked_at: at });
  }
}
