import { SqlTable } from '../../../core/contracts/sql.ts';
import type { OpenerTime } from '../contract.ts';

interface RefusalColumns {
  readonly account_id: string;
  readonly at: number;
  readonly refusals: number;
}

/** The SQL of refused openers: how many of an account at which moment. */
export class OpenerRefusalTable extends SqlTable {
  /** When openers of these accounts were refused after a moment: one entry for each, up to `limit` of one moment. */
  async since(
    accountIds: readonly string[],
    moment: number,
    limit: number,
  ): Promise<readonly OpenerTime[]> {
    if (accountIds.length === 0 || limit === 0) return [];
    const rows: readonly RefusalColumns[] = await this.db
      .knex('opener_refusals')
      .whereIn('account_id', [...accountIds])
      .where('at', '>', moment);
    return rows.flatMap((row) =>
      Array.from({ length: Math.min(row.refusals, limit) }, () => ({
        accountId: row.account_id,
        at: row.at,
      })),
    );
  }

  /**
   * Counts refusals, and forgets the earlier ones of the same accounts that count no more, so that there are few.
   * @param since the first moment that counts, by account
   */
  async record(refusals: readonly OpenerTime[], since: ReadonlyMap<string, number>): Promise<void> {
    const [first] = refusals;
    if (first === undefined) return;
    const counts = new Map<string, number>();
    for (const { accountId } of refusals) counts.set(accountId, (counts.get(accountId) ?? 0) + 1);
    await this.db.upsert(
      'opener_refusals',
      [...counts].map(([account_id, count]) => ({ account_id, at: first.at, refusals: count })),
      { key: ['account_id', 'at'], add: ['refusals'] },
    );
    const old = [...since].map(() => '(account_id = ? and at < ?)').join(' or ');
    await this.db.run(`delete from opener_refusals where ${old}`, [...since].flat());
  }
}
