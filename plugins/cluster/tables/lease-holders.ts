import type { Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable } from '../contract.ts';

/** No transaction is open for so long, milliseconds: one that was stopped in the middle is ended after seconds. */
const latestMs = 60_000;

/** The SQL of lease holders: until when the leases of each process are valid. */
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
   * Extends all leases of a process, expired or not; those taken from it stay taken. A transaction that began earlier and
   * ends later does not shorten them; an expiry that only a database's clock ahead of this one can have given is replaced.
   */
  async renew(id: string, expiresAt: number): Promise<void> {
    const later =
      this.db.dialect === 'mysql'
        ? 'on duplicate key update expires_at = if(expires_at > values(expires_at) + ?, ' +
          'values(expires_at), greatest(expires_at, values(expires_at)))'
        : 'on conflict (id) do update set expires_at = iif(expires_at > excluded.expires_at + ?, ' +
          'excluded.expires_at, max(expires_at, excluded.expires_at))';
    await this.db.run(`insert into lease_holders (id, expires_at) values (?, ?) ${later}`, [
      id,
      expiresAt,
      latestMs,
    ]);
  }

  /** The processes whose leases have expired. Without a lock. */
  async dead(now: number): Promise<readonly string[]> {
    return this.db.knex('lease_holders').where('expires_at', '<=', now).pluck('id');
  }

  /**
   * Locks the expired processes until the transaction ends, so that none renews its leases meanwhile; skips locked ones.
   * @param ids only among these; among all when absent
   */
  async lockDead(now: number, ids?: readonly string[]): Promise<readonly string[]> {
    // Two steps: a search with a lock would also lock the rows of living processes.
    const found = ids ?? (await this.dead(now));
    if (found.length === 0) return [];
    const query = this.db
      .knex('lease_holders')
      .where('expires_at', '<=', now)
      .whereIn('id', [...found]);
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    return query.pluck('id');
  }

  /** Expires all leases of these processes at once. */
  async expire(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.knex('lease_holders').whereIn('id', ids).update({ expires_at: 0 });
  }

  /** Expires the leases of all but this process at once. */
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
    // One by one: a search for several may also lock the rows of living processes.
    for (const id of dead) {
      if (!kept.has(id)) await this.db.knex('lease_holders').where({ id }).delete();
    }
  }
}
