import type { Sql } from '../../../core/contracts/sql.ts';
import type { LeaseClaim, LeasedRow, LeasedTable, LeaseRows } from '../../cluster/contract.ts';
import type { Fence } from '../contract.ts';
import { fenceOf, tokenOf } from '../fences.ts';

/** The leases of sessions: one for each account, which some process should hold while a session is wanted. */
export const sessionLeases: LeasedTable = {
  table: 'leases',
  key: 'account_id',
  wanted: { wanted: 1 },
};

/** Who may act for an account: one row of `leases`. */
export interface Lease extends Omit<LeasedRow, 'id'> {
  readonly accountId: string;
}

/** The SQL of session leases. */
export class LeaseTable {
  /** What they have in common with the leases of other things. */
  readonly rows: LeaseRows;
  protected readonly db: Sql;

  constructor(db: Sql, rows: LeaseRows) {
    this.db = db;
    this.rows = rows;
  }

  async find(accountIds: readonly string[]): Promise<readonly Lease[]> {
    const rows = await this.rows.find(accountIds);
    return rows.map(({ id, ...row }) => ({ ...row, accountId: id }));
  }

  /** The account ids of those fences that are current, see `LeaseRows.heldBy`. */
  heldBy(fences: readonly Fence[]): Promise<ReadonlySet<string>> {
    return this.rows.heldBy(fences.map(tokenOf));
  }

  /** The same, locked, without those that somebody else has locked, see `LeaseRows.lockFree`. */
  lockFree(fences: readonly Fence[]): Promise<ReadonlySet<string>> {
    return this.rows.lockFree(fences.map(tokenOf));
  }

  /** Takes free and expired leases, see `LeaseRows.claim`. */
  async claim(claim: LeaseClaim): Promise<readonly Fence[]> {
    return (await this.rows.claim(claim)).map(fenceOf);
  }

  /** Makes a process the owner, whoever was it before, see `LeaseRows.take`. */
  async take(accountIds: readonly string[], owner: string, expiresAt: number): Promise<void> {
    await this.db.insertIgnore(
      'leases',
      accountIds.map((id) => ({ account_id: id, wanted: 0, owner: null, fence: 0 })),
    );
    await this.rows.take(accountIds, owner, expiresAt);
  }

  /** Gives leases away so that another process can take them at once. Fences that fell are left alone. */
  release(fences: readonly Fence[]): Promise<void> {
    return this.rows.release(fences.map(tokenOf));
  }

  /** Ends leases: no session is wanted any more. Fences that fell are left alone. */
  end(fences: readonly Fence[]): Promise<void> {
    return this.rows.release(fences.map(tokenOf), { wanted: 0 });
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
}
