import type { Knex } from 'knex';
import { placeholders, type Sql } from '../../../core/contracts/sql.ts';
import type { Fence } from '../contract.ts';

/** Who may act for an account, as long as that process renews its leases: one row of `leases`. */
export interface Lease {
  readonly accountId: string;
  /** A session is wanted: some process should hold this lease. */
  readonly wanted: boolean;
  /** The process that holds or held it. */
  readonly owner: string | null;
  /** Grows with every change of hands. */
  readonly fence: number;
}

/**
 * The SQL of session leases. A lease names its owner, and holds as long as the owner's row in `lease_holders` has not
 * expired: one row is renewed for all leases of a process, whatever locks theirs.
 */
export class LeaseTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  async find(accountIds: readonly string[]): Promise<readonly Lease[]> {
    const wanted = [...new Set(accountIds)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<StoredLease>(
      `select * from leases where account_id in (${placeholders(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    return rows.map(lease);
  }

  /**
   * The account ids of those fences that still stand. Every write of a session asks it after having locked
   * the lease. Expiry does not count: an expired lease that nobody took is still the owner's.
   */
  async heldBy(fences: readonly Fence[]): Promise<ReadonlySet<string>> {
    return held(fences, await this.find(fences.map((fence) => fence.accountId)));
  }

  /**
   * The same of leases that the caller has not locked: they are, until the transaction ends. Those that somebody else has
   * locked are left out, as it holds tenants already and must not wait for a session.
   */
  async lockFree(fences: readonly Fence[]): Promise<ReadonlySet<string>> {
    if (fences.length === 0) return new Set();
    // As the storage takes them: a scan of the table would wait for rows of others.
    const index = this.db.dialect === 'mysql' ? 'force index (primary)' : '';
    const rows = await this.db.rows<StoredLease>(
      `select * from leases ${index} where account_id in (${placeholders(fences.length)})
       order by account_id ${this.db.lockingFree}`,
      fences.map((fence) => fence.accountId),
    );
    return held(fences, rows.map(lease));
  }

  /** The process whose lease of this account holds at this moment by the database's clock; null when none does. */
  async hostOf(accountId: string, now: number): Promise<string | null> {
    const [row] = await this.db.rows<{ owner: string }>(
      `select l.owner from leases l join lease_holders h on h.id = l.owner
       where l.account_id = ? and l.wanted = 1 and h.expires_at > ?`,
      [accountId, now],
    );
    return row?.owner ?? null;
  }

  /**
   * Makes a process the owner, whoever was it before. The caller has locked and checked the lease, and has locked a dead
   * owner by `lockDead`.
   */
  async take(accountIds: readonly string[], owner: string, expiresAt: number): Promise<void> {
    await this.db.insertIgnore(
      'leases',
      accountIds.map((id) => ({ account_id: id, wanted: 0, owner: null, fence: 0 })),
    );
    await this.#own(accountIds, owner);
    await this.renew(owner, expiresAt);
  }

  /**
   * Takes up to `limit` wanted leases that nobody owns or whose owner's time has run out; leaves alone what somebody
   * locks. The rows of such owners stay locked: none of them renews its leases while they are taken.
   */
  async claimFree(
    owner: string,
    now: number,
    expiresAt: number,
    limit: number,
  ): Promise<readonly Fence[]> {
    const dead = (await this.lockDead(now)).filter((id) => id !== owner);
    const free = await this.#free(limit, (query) => query.whereNull('owner'));
    const left = limit - free.length;
    const ids =
      left === 0 || dead.length === 0
        ? free
        : [...free, ...(await this.#free(left, (query) => query.whereIn('owner', dead)))];
    if (ids.length > 0) {
      await this.#own(ids, owner);
      await this.renew(owner, expiresAt);
    }
    await this.#forget(dead);
    const taken = await this.find(ids);
    return taken.map((row) => ({ accountId: row.accountId, owner, number: row.fence }));
  }

  /**
   * Moves the expiry of all leases of a process forward, expired or not. Those that were taken from it stay taken. A
   * transaction that began earlier and ends later moves nothing back.
   */
  async renew(owner: string, expiresAt: number): Promise<void> {
    const later =
      this.db.dialect === 'mysql'
        ? 'on duplicate key update expires_at = greatest(expires_at, values(expires_at))'
        : 'on conflict (id) do update set expires_at = max(expires_at, excluded.expires_at)';
    await this.db.run(`insert into lease_holders (id, expires_at) values (?, ?) ${later}`, [
      owner,
      expiresAt,
    ]);
  }

  /** The wanted leases that name this process as owner. */
  async ownedBy(owner: string): Promise<readonly Lease[]> {
    const rows: StoredLease[] = await this.db.knex('leases').where({ owner, wanted: 1 });
    return rows.map(lease);
  }

  /**
   * The processes whose time has run out, locked until the transaction ends; who is locked already is left out.
   * @param ids only of these; of all when absent
   */
  async lockDead(now: number, ids?: readonly string[]): Promise<readonly string[]> {
    const expired = () => this.db.knex('lease_holders').where('expires_at', '<=', now);
    // Two steps: a search with a lock would lock the rows of living processes, too.
    const found: string[] = ids === undefined ? await expired().pluck('id') : [...ids];
    if (found.length === 0) return [];
    const query = expired().whereIn('id', found);
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    return query.pluck('id');
  }

  /** Lets all leases of these owners run out at once. */
  async expire(owners: readonly string[]): Promise<void> {
    if (owners.length === 0) return;
    await this.db.knex('lease_holders').whereIn('id', owners).update({ expires_at: 0 });
  }

  /** Lets the leases of all but this process run out at once. */
  async expireOthers(owner: string): Promise<void> {
    await this.db.knex('lease_holders').whereNot('id', owner).update({ expires_at: 0 });
  }

  /** Gives leases away so that another process can take them at once. Fences that fell are left alone. */
  async release(fences: readonly Fence[]): Promise<void> {
    await this.#set(fences, { owner: null });
  }

  /** Ends leases: no session is wanted any more. Fences that fell are left alone. */
  async end(fences: readonly Fence[]): Promise<void> {
    await this.#set(fences, { wanted: 0, owner: null });
  }

  /** Ends leases whoever holds them, and fences the holder out. It stays named as owner. */
  async revoke(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db
      .knex('leases')
      .whereIn('account_id', accountIds)
      .update({ wanted: 0, fence: this.db.knex.raw('fence + 1') });
  }

  /** Deletes leases together with accounts that are undone. */
  async erase(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db.knex('leases').whereIn('account_id', accountIds).delete();
  }

  async #free(
    limit: number,
    whose: (query: Knex.QueryBuilder) => Knex.QueryBuilder,
  ): Promise<readonly string[]> {
    // In no order: a sort would lock every free row, not only those that are taken.
    const query = whose(this.db.knex('leases').where('wanted', 1)).limit(limit);
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    return query.pluck('account_id');
  }

  async #own(accountIds: readonly string[], owner: string): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db
      .knex('leases')
      .whereIn('account_id', accountIds)
      .update({ wanted: 1, owner, fence: this.db.knex.raw('fence + 1') });
  }

  /** Deletes the rows of dead owners, which the caller has locked, once no wanted lease names them. */
  async #forget(dead: readonly string[]): Promise<void> {
    if (dead.length === 0) return;
    const named = this.db.knex('leases').where('wanted', 1).whereIn('owner', dead);
    const kept = new Set<string>(await named.distinct().pluck('owner'));
    // One by one: a search for several may lock the rows of the living, too.
    for (const id of dead) {
      if (!kept.has(id)) await this.db.knex('lease_holders').where({ id }).delete();
    }
  }

  async #set(
    fences: readonly Fence[],
    values: Readonly<Record<string, number | null>>,
  ): Promise<void> {
    const held = await this.heldBy(fences);
    if (held.size === 0) return;
    await this.db
      .knex('leases')
      .whereIn('account_id', [...held])
      .update(values);
  }
}

interface StoredLease {
  readonly account_id: string;
  readonly wanted: number;
  readonly owner: string | null;
  readonly fence: number | string;
}

function lease(row: StoredLease): Lease {
  return {
    accountId: row.account_id,
    wanted: row.wanted === 1,
    owner: row.owner,
    fence: Number(row.fence),
  };
}

function held(fences: readonly Fence[], leases: readonly Lease[]): ReadonlySet<string> {
  const found = new Map(leases.map((row) => [row.accountId, row]));
  const standing = fences.filter((fence) => stands(fence, found.get(fence.accountId)));
  return new Set(standing.map((fence) => fence.accountId));
}

function stands(fence: Fence, row: Lease | undefined): boolean {
  return row !== undefined && row.owner === fence.owner && row.fence === fence.number;
}
