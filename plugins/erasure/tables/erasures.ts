import type { Sql } from '../../../core/contracts/sql.ts';
import type { Erasure } from '../contract.ts';

/** The SQL of erasures under way. */
export class ErasureTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** Begins an erasure, in the transaction after which nobody sees its subject any more; repeatable. */
  async begin({ id, tenantId }: Erasure, at: number): Promise<void> {
    await this.db.insertIgnore('erasures', [{ id, tenant_id: tenantId, created_at: at }]);
  }

  /** The oldest erasures that began before a moment. There are few, so that no index is kept for them. */
  async begunBefore(moment: number, limit: number): Promise<readonly Erasure[]> {
    return this.db
      .knex('erasures')
      .select('id', { tenantId: 'tenant_id' })
      .where('created_at', '<', moment)
      .orderBy('created_at')
      .limit(limit);
  }

  /** Whether an erasure is under way. */
  async has(id: string): Promise<boolean> {
    return (await this.db.rows('select id from erasures where id = ?', [id])).length > 0;
  }

  /** Ends an erasure: nothing is left. */
  async end(id: string): Promise<void> {
    await this.db.run('delete from erasures where id = ?', [id]);
  }
}
