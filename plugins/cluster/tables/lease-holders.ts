import { type Sql, SqlTable } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseHolder } from '../contract.ts';

/** No transaction is open for so long, milliseconds: one that was stopped in the middle is ended after seconds. */
const latestMs = 60_000;

/** The expiry of leases that are free. */
const expired = 0;

/** The SQL of lease holders: until when the leases of each process are valid. */
export class LeaseHolderTable extends SqlTable {
  readonly #leased: readonly LeasedTable[];

  constructor(db: Sql, leased: readonly LeasedTable[]) {
    super(db);
    this.#leased = leased;
  }

  /** Whether the leases of a process are valid at a moment by the database's clock. */
  async isValid(id: string, at: number): Promise<boolean> {
    const row: unknown = await this.db
      .knex('lease_holders')
      .where({ id })
      .where('expires_at', '>', at)
      .first('id');
    return row !== undefined;
  }

  /**
   * Extends all leases of a process, expired or not; those taken from it stay taken. A transaction that began earlier and
   * ends later does not shorten them; an expiry that only a database's clock ahead of this one can have given is replaced.
   * The expiry always changes: other processes see by that that this one lives.
   * @param leaseMs how long the others wait for a renewal
   */
  async renew(id: string, expiresAt: number, leaseMs: number): Promise<void> {
    const later =
      this.db.dialect === 'mysql'
        ? 'on duplicate key update lease_ms = values(lease_ms), ' +
          'expires_at = if(expires_at > values(expires_at) + ?, ' +
          'values(expires_at), greatest(expires_at + 1, values(expires_at)))'
        : 'on conflict (id) do update set lease_ms = excluded.lease_ms, ' +
          'expires_at = iif(expires_at > excluded.expires_at + ?, ' +
          'excluded.expires_at, max(expires_at + 1, excluded.expires_at))';
    await this.db.run(
      `insert into lease_holders (id, expires_at, lease_ms) values (?, ?, ?) ${later}`,
      [id, expiresAt, leaseMs, latestMs],
    );
  }

  /** The processes whose leases are not free, those that have run out by the database's clock among them. */
  async notFreed(): Promise<readonly LeaseHolder[]> {
    const rows: { id: string; expires_at: number; lease_ms: number }[] = await this.db
      .knex('lease_holders')
      .whereNot('expires_at', expired);
    return rows.map(({ id, expires_at, lease_ms }) => ({
      id,
      expiresAt: expires_at,
      leaseMs: lease_ms,
    }));
  }

  /** Locks those of these processes that have not renewed their leases since they were read; skips locked ones. */
  async lockUnchanged(holders: readonly LeaseHolder[]): Promise<readonly string[]> {
    const found: string[] = [];
    for (const { id, expiresAt } of holders) found.push(...(await this.#lock([id], expiresAt)));
    return found;
  }

  /** The processes whose leases are free. Without a lock. */
  async dead(): Promise<readonly string[]> {
    return this.db.knex('lease_holders').where('expires_at', expired).pluck('id');
  }

  /**
   * Locks processes whose leases are free until the transaction ends, so that none renews its leases meanwhile;
   * skips locked ones.
   * @param ids only among these; among all when absent
   */
  async lockDead(ids?: readonly string[]): Promise<readonly string[]> {
    // Two steps: a search with a lock would also lock the rows of living processes.
    const found = ids ?? (await this.dead());
    return found.length === 0 ? [] : this.#lock(found, expired);
  }

  #lock(ids: readonly string[], expiresAt: number): Promise<string[]> {
    const query = this.db
      .knex('lease_holders')
      .where('expires_at', expiresAt)
      .whereIn('id', [...ids]);
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    return query.pluck('id');
  }

  /** Expires all leases of these processes at once. */
  async expire(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db.knex('lease_holders').whereIn('id', ids).update({ expires_at: expired });
  }

  /** Expires the leases of all but this process at once. */
  async expireOthers(id: string): Promise<void> {
    await this.db.knex('lease_holders').whereNot('id', id).update({ expires_at: expired });
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
