import type { Expectation } from '../../../core/contracts/storage.ts';
import type { Fence, Lease, Renewal } from '../../accounts/contract.ts';
import { type Executor, holes } from '../executor.ts';

/** The SQL of session leases. */
export class LeaseTable {
  protected readonly db: Executor;

  constructor(db: Executor) {
    this.db = db;
  }

  async find(accountIds: readonly string[]): Promise<readonly Lease[]> {
    const wanted = [...new Set(accountIds)];
    if (wanted.length === 0) return [];
    const rows = await this.db.rows<StoredLease>(
      `select * from leases where account_id in (${holes(wanted.length)})`,
      wanted,
      { recurs: wanted.length === 1 },
    );
    return rows.map(lease);
  }

  /**
   * The account ids of those fences that still stand. Every write of a session asks it after having locked
   * the lease. Expiry does not count: an expired lease that nobody took is still the holder's.
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
      `select * from leases ${index} where account_id in (${holes(fences.length)})
       order by account_id ${this.db.lockingFree}`,
      fences.map((fence) => fence.accountId),
    );
    return held(fences, rows.map(lease));
  }

  /** That nobody else has locked any of these leases, that all stand, and that they are locked now. */
  expectFree(fences: readonly Fence[]): Expectation {
    const wanted = fences.toSorted((one, other) => (one.accountId < other.accountId ? -1 : 1));
    const text = "concat_ws(' ', account_id, owner, fence)";
    return {
      // MariaDB makes a table for each group_concat, of one row too.
      value: wanted.length === 1 ? text : `group_concat(${text} order by account_id separator ',')`,
      // In no order: who skips what is locked waits for nobody.
      source: `from leases force index (primary)
         where account_id in (${holes(wanted.length)}) ${this.db.lockingFree}`,
      values: wanted.map(({ accountId }) => accountId),
      recurs: wanted.length === 1,
      text: wanted
        .map(({ accountId, owner, number }) => `${accountId} ${owner} ${number}`)
        .join(','),
    };
  }

  /** Makes a process the owner, whoever was it before: the caller has locked and checked the lease. */
  async take(accountIds: readonly string[], owner: string, expiresAt: number): Promise<void> {
    await this.db.insertIgnore(
      'leases',
      accountIds.map((id) => ({ account_id: id, wanted: 0, owner: null, fence: 0, expires_at: 0 })),
    );
    await this.#own(accountIds, owner, expiresAt);
  }

  /** Takes up to `limit` wanted leases that are free or have expired; leaves alone what somebody locks. */
  async claimFree(
    owner: string,
    now: number,
    expiresAt: number,
    limit: number,
  ): Promise<readonly Fence[]> {
    const query = this.db
      .knex('leases')
      .select('account_id')
      .where('wanted', 1)
      .andWhere('expires_at', '<=', now)
      // In the order of the index: a sort would lock every free row, not only those that are taken.
      .orderBy('expires_at')
      .limit(limit);
    if (this.db.dialect === 'mysql') query.forUpdate().skipLocked();
    const free: { account_id: string }[] = await query;
    const ids = free.map((row) => row.account_id);
    await this.#own(ids, owner, expiresAt);
    const taken = await this.find(ids);
    return taken.map((row) => ({ accountId: row.accountId, owner, number: row.fence }));
  }

  /**
   * Moves the expiry of those leases that still stand, expired or not.
   * @param wait whether to wait for rows that somebody has locked, or to skip them
   */
  async renew(fences: readonly Fence[], expiresAt: number, wait: boolean): Promise<Renewal> {
    const ids = fences.map((fence) => fence.accountId);
    if (ids.length === 0) return { renewed: [], lost: [], revoked: [], skipped: [] };
    const query = this.db.knex('leases').whereIn('account_id', ids).orderBy('account_id');
    if (this.db.dialect === 'mysql') {
      query.forUpdate();
      if (!wait) query.skipLocked();
    }
    const rows: StoredLease[] = await query;
    const found = new Map(rows.map((row) => [row.account_id, lease(row)]));
    const renewed = fences.filter((fence) => stands(fence, found.get(fence.accountId)));
    await this.db
      .knex('leases')
      .whereIn(
        'account_id',
        renewed.map((fence) => fence.accountId),
      )
      .update({ expires_at: expiresAt });
    const fallen = fences.filter((fence) => {
      const row = found.get(fence.accountId);
      return row !== undefined && !stands(fence, row);
    });
    const isRevoked = (fence: Fence): boolean => {
      const row = found.get(fence.accountId);
      return row !== undefined && !row.wanted && row.owner === fence.owner;
    };
    return {
      renewed,
      lost: fallen.filter((fence) => !isRevoked(fence)),
      revoked: fallen.filter(isRevoked),
      skipped: fences.filter((fence) => !found.has(fence.accountId)),
    };
  }

  /** Whoever is named as owner of a lease. */
  async owners(): Promise<readonly string[]> {
    return this.db.knex('leases').whereNotNull('owner').distinct().pluck('owner');
  }

  /** Lets all leases of these owners run out at once. */
  async expire(owners: readonly string[]): Promise<void> {
    if (owners.length === 0) return;
    await this.db.knex('leases').whereIn('owner', owners).update({ expires_at: 0 });
  }

  /** Gives leases away so that another process can take them at once. Fences that fell are left alone. */
  async release(fences: readonly Fence[]): Promise<void> {
    await this.#set(fences, { owner: null, expires_at: 0 });
  }

  /** Ends leases: no session is wanted any more. Fences that fell are left alone. */
  async end(fences: readonly Fence[]): Promise<void> {
    await this.#set(fences, { wanted: 0, owner: null, expires_at: 0 });
  }

  /** Ends leases whoever holds them, and fences the holder out. It stays named as owner. */
  async revoke(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db
      .knex('leases')
      .whereIn('account_id', accountIds)
      .update({ wanted: 0, fence: this.db.knex.raw('fence + 1'), expires_at: 0 });
  }

  /** Deletes leases together with accounts that are undone. */
  async erase(accountIds: readonly string[]): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db.knex('leases').whereIn('account_id', accountIds).delete();
  }

  async #own(accountIds: readonly string[], owner: string, expiresAt: number): Promise<void> {
    if (accountIds.length === 0) return;
    await this.db
      .knex('leases')
      .whereIn('account_id', accountIds)
      .update({ wanted: 1, owner, fence: this.db.knex.raw('fence + 1'), expires_at: expiresAt });
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
  readonly expires_at: number | string;
}

function lease(row: StoredLease): Lease {
  return {
    accountId: row.account_id,
    wanted: row.wanted === 1,
    owner: row.owner,
    fence: Number(row.fence),
    expiresAt: Number(row.expires_at),
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
