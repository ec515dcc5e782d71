import { SqlTable } from '../../../core/contracts/sql.ts';
import type { OpenerTime } from '../contract.ts';

interface RefusalColumns {
  readonly account_id: string;
  readonly at: number;
  readonly refusals: number;
}

/** The SQL of refused openers: how many of an account at which moment. */
export class OpenerRefusalTable extends SqlTable {
  /** When openers of these accounts were refused after a moment: one entry for each. */
  async since(accountIds: readonly string[], moment: number): Promise<readonly OpenerTime[]> {
    if (accountIds.length === 0) return [];
    const rows: readonly RefusalColumns[] = await this.db
      .knex('opener_refusals')
      .whereIn('account_id', [...accountIds])
      .where('at', '>', moment);
    return rows.flatMap((row) =>
      Array.from({ length: row.refusals }, () => ({ accountId: row.account_id, at: row.at })),
    );
  }

  /** Counts refusals, and forgets those of the same accounts that are older than `keepMs`. */
  async record(refusals: readonly OpenerTime[], keepMs: number): Promise<void> {
    const [first] = refusals;
    if (first === undefined) return;
    const counts = new Map<string, number>();
    for (const { accountId } of refusals) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    await this.db.upsert(
      'opener_refusals',
      [...counts].map(([account_id, count]) => ({ account_id, at: first.at, refusals: count })),
      { key: ['account_id', 'at'], add: ['refusals'] },
    );
    await this.db
      .knex('opener_refusals')
      .whereIn('account_id', [...counts.keys()])
      .where('at', '<', first.at - keepMs)
      .delete();
  }
}
