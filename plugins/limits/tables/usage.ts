import { placeholders, SqlTable } from '../../../core/contracts/sql.ts';
import { deleteDaysBefore } from './old-days.ts';

/** One row of `usage_counters`: what a tenant, or one of its accounts, did on a day. */
export interface UsageCounter {
  readonly tenantId: string;
  readonly day: string;
  /** Empty for the tenant's total. */
  readonly accountId: string;
  readonly sends: number;
  readonly newContacts: number;
}

interface CounterColumns {
  readonly tenant_id: string;
  readonly day: string;
  readonly account_id: string;
  readonly sends: number;
  readonly new_contacts: number;
}

/** The SQL of daily usage counters. */
export class UsageTable extends SqlTable {
  /** The counters of a day that are not 0: of these tenants (account id empty) and of these accounts. */
  async of(
    tenantIds: readonly string[],
    accountIds: readonly string[],
    day: string,
  ): Promise<readonly UsageCounter[]> {
    if (tenantIds.length === 0) return [];
    const tenants = [...new Set(tenantIds)];
    const accounts = ['', ...new Set(accountIds)];
    const rows = await this.db.rows<CounterColumns>(
      `select * from usage_counters
       where tenant_id in (${placeholders(tenants.length)}) and day = ?
         and account_id in (${placeholders(accounts.length)})`,
      [...tenants, day, ...accounts],
    );
    return rows.map(toCounter);
  }

  /** A tenant's counters from one day to another, both included, by day and account. */
  async between(
    tenantId: string,
    firstDay: string,
    lastDay: string,
  ): Promise<readonly UsageCounter[]> {
    const rows: readonly CounterColumns[] = await this.db
      .knex('usage_counters')
      .where('tenant_id', tenantId)
      .whereBetween('day', [firstDay, lastDay])
      .orderBy(['day', 'account_id']);
    return rows.map(toCounter);
  }

  /** Adds to counters, of which none may be named twice. */
  async add(counters: readonly UsageCounter[]): Promise<void> {
    await this.db.upsert(
      'usage_counters',
      counters.map((counter) => ({
        tenant_id: counter.tenantId,
        day: counter.day,
        account_id: counter.accountId,
        sends: counter.sends,
        new_contacts: counter.newContacts,
      })),
      { key: ['tenant_id', 'day', 'account_id'], add: ['sends', 'new_contacts'] },
    );
  }

  /** Deletes a bounded number of counters of days before one day; answers how many. */
  deleteBefore(day: string, limit: number): Promise<number> {
    return deleteDaysBefore(this.db, 'usage_counters', day, limit);
  }
}

function toCounter(row: CounterColumns): UsageCounter {
  return {
    tenantId: row.tenant_id,
    day: row.day,
    accountId: row.account_id,
    sends: row.sends,
    newContacts: row.new_contacts,
  };
}
