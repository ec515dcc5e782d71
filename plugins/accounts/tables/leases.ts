import { type Sql, SqlTable } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows, LeaseToken } from '../../cluster/contract.ts';

/** The leases of sessions: one for each account, which some process should hold while a session is wanted. */
export const sessionLeases: LeasedTable = {
  table: 'leases',
  key: 'account_id',
  wanted: { wanted: 1 },
};

/** The SQL of session leases: `rows` for what all leases have in common, and the rest. */
export class LeaseTable extends SqlTable {
  /** The shared algorithm; the ids of its tokens are those of accounts. */
  readonly rows: LeaseRows;

  constructor(db: Sql, rows: LeaseRows) {
    super(db);
    this.rows = rows;
  }

  /** Makes a process the owner, also of accounts without a lease row; see `LeaseRows.take`. */
  async take(
    accountIds: readonly string[],
    owner: string,
    expiresAt: number,
    leaseMs: number,
  ): Promise<void> {
    await this.db.insertIgnore(
      'leases',
      accountIds.map((id) => ({ account_id: id, wanted: 0, owner: null, fence: 0 })),
    );
    await this.rows.take(accountIds, owner, expiresAt, leaseMs);
  }

  /** Ends leases: no session is wanted any more. Those of other owners by now are left alone. */
  end(leases: readonly LeaseToken[]): Promise<void> {
    return this.rows.release(leases, { wanted: 0 });
  }

  /** Ends leases, whoever owns them, and fences the owner out. It stays named as owner. */
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
