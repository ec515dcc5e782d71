import type { Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable } from '../contract.ts';

/** The SQL of lease holders: until when each process holds whatever names it as owner. */
export class LeaseHolderTable {
  protected readonly db: Sql;
  readonly #leased: readonly LeasedTable[];

  constructor(db: Sql, leased: readonly LeasedTable[]) {
    this.db = db;
    this.#leased = leased;
  }

  /** Whether the leases of a process are valid at this moment by the database's clock. */
  async isValid(id: string, now: number): Promise<boolean> {
    const row: unknown = await this.db
      .knex('lease_holders')
      .where({ id })
      .where('expires_at', '>', now)
      .first('id');
    return row !== undefined;
  }

  /**
   * Moves the expiry of all leases of a process forward, expired or not. Those that were taken from it stay taken. A
   * transaction that began earlier and ends later moves nothing back.
   */
  async renew(id: string, expiresAt: number): Promise<void> {
    const later =
      this.db.dialect === 'mysql'
        ? 'on duplicate key update expires_at = greatest(expires_at, values(expires_at))'
        : 'on conflict (id) do update set expires_at = max(expires_at, excluded.expires_at)';
    await this.db.run(`insert into lease_holders (id, expires_at) values (?, ?) ${later}`, [
      id,
      expiresAt,
    ]);
  }

  /** The processes whose time has run out. Without a lock. */
  async dead(now: number): Promise<readonly string[]> {
    return this.db.knex('lease_holders').where('expires_at', '<=', now).pluck('id');
  }

  /**
   * The same, locked until the transaction ends, so that none of them renews its leases while they are taken; who is
   * locked already is left out.
   * @param ids only of these; of all when absent
   */
  async lockDead(now: number, ids?: readonly string[]): Promise<readonly string[]> {
    // Two steps: a search with a lock would lock the rows of living processes, too.
    const found = ids ?? (await this.dead(now));
    if (found.length === 0) return [];
    const query = this.db
      .knex('lease_holders')
      .where('expires_at', '<=', now)
      .whereIn('id', [...found]);
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    return query.pluck('id');
  }

  /** Lets all leases of these processes run out at once. */
  async expire(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.knex('lease_holders').whereIn('id', ids).update({ expires_at: 0 });
  }

  /** Lets the leases of all but this process run out at once. */
  async expireOthers(id: string): Promise<void> {
    await this.db.knex('lease_holders').whereNot('id', id).update({ expires_at: 0 });
  }

  /** Deletes dead processes, which the caller has locked, once no wanted lease names them. */
  async forget(dead: readonly string[]): Promise<void> {
    if (dead.length === 0) return;
    const kept = new Set<string>();
    for (const { table, wanted = {} } of this.#leased) {
      const named = this.db.knex(table).where(wanted).whereIn('owner', dead);
      for (const owner of await named.distinct().pluck('owner')) kept.add(owner);
    }
    // One by one: a search for several may lock the rows of the living, too.
    for (const id of dead) {
      if (!kept.has(id)) await this.db.knex('lease_holders').where({ id }).delete();
    }
  }
}
