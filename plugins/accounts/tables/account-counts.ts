import { SqlTable } from '../../../core/contracts/sql.ts';
import type { AccountStatus, Mode } from '../contract.ts';

/** A tenant's accounts that were not removed. */
export interface AccountCount {
  readonly total: number;
  readonly connected: number;
}

/** How many accounts of a channel, of live tenants or of test tenants, are in one state. */
export interface AccountStateCount {
  readonly channel: string;
  readonly mode: Mode;
  readonly status: AccountStatus;
  readonly reason: string | null;
  readonly accounts: number;
}

/** The SQL that counts accounts, for usage and metrics. */
export class AccountCountTable extends SqlTable {
  /** How many accounts of a tenant were not removed, and how many of them are connected. */
  async ofTenant(tenantId: string): Promise<AccountCount> {
    const rows: readonly Pick<AccountStateCount, 'status' | 'accounts'>[] = await this.db
      .knex('accounts')
      .select('status')
      .count({ accounts: '*' })
      .where({ tenant_id: tenantId, removed_at: null })
      .groupBy('status');
    return {
      total: rows.reduce((sum, row) => sum + row.accounts, 0),
      connected: rows.find((row) => row.status === 'connected')?.accounts ?? 0,
    };
  }

  /**
   * How many accounts that are not removed are in which state, of all tenants. The reason of a connected one is that of a
   * restriction to known contacts, until it is over.
   * @param now the database's clock
   */
  async byState(now: number): Promise<readonly AccountStateCount[]> {
    const { knex } = this.db;
    const isInForce = `a.status = 'connected' and (a.restricted_until is null or a.restricted_until > ?)`;
    const reason = `coalesce(a.reason, case when ${isInForce} then a.restriction_reason end) as reason`;
    return knex('accounts as a')
      .join('tenants as t', 't.id', 'a.tenant_id')
      .select('a.channel', 't.mode', 'a.status', knex.raw(reason, [now]))
      .count({ accounts: '*' })
      .whereNull('a.removed_at')
      .groupByRaw('1, 2, 3, 4');
  }
}
