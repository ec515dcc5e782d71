import { SqlTable } from '../../../core/contracts/sql.ts';
import type { RefusalCounter } from '../contract.ts';
import { deleteDaysBefore } from './old-days.ts';

interface CounterColumns {
  readonly tenant_id: string;
  readonly day: string;
  readonly account_id: string;
  readonly code: string;
  readonly refusals: number;
}

/** The SQL of daily counters of refused sends. */
export class RefusalTable extends SqlTable {
  /** A tenant's counters from one day to another, both included, by day, account and code. */
  async between(
    tenantId: string,
    firstDay: string,
    lastDay: string,
  ): Promise<readonly RefusalCounter[]> {
    const rows: readonly CounterColumns[] = await this.db
      .knex('refusal_counters')
      .where('tenant_id', tenantId)
      .whereBetween('day', [firstDay, lastDay])
      .orderBy(['day', 'account_id', 'code']);
    return rows.map(({ tenant_id, account_id, ...row }) => ({
      ...{ tenantId: tenant_id, accountId: account_id },
      ...row,
    }));
  }

  /** Adds to counters, of which none may be named twice. */
  async add(counters: readonly RefusalCounter[]): Promise<void> {
    await this.db.upsert(
      'refusal_counters',
      counters.map(({ tenantId, day, accountId, code, refusals }) => ({
        ...{ tenant_id: tenantId, day, account_id: accountId, code, refusals },
      })),
      { key: ['tenant_id', 'day', 'account_id', 'code'], add: ['refusals'] },
    );
  }

  /** Deletes a bounded number of counters of days before one day; answers how many. */
  deleteBefore(day: string, limit: number): Promise<number> {
    return deleteDaysBefore(this.db, 'refusal_counters', day, limit);
  }
}
