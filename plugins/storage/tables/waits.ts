import type { OpenWait } from '../../messages/contract.ts';
import type { Executor } from '../executor.ts';

interface WaitColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly process_id: string;
  readonly ends_at: number;
}

/** The SQL of open waits. */
export class WaitTable {
  protected readonly db: Executor;

  constructor(db: Executor) {
    this.db = db;
  }

  async open(waits: readonly OpenWait[]): Promise<void> {
    await this.db.insertIgnore(
      'waits',
      waits.map((wait) => ({
        id: wait.id,
        tenant_id: wait.tenantId,
        process_id: wait.processId,
        ends_at: wait.endsAt,
      })),
    );
  }

  /** The tenants' rows, those of dead processes included. */
  async ofTenants(tenantIds: readonly string[]): Promise<readonly OpenWait[]> {
    if (tenantIds.length === 0) return [];
    const rows: readonly WaitColumns[] = await this.db
      .knex('waits')
      .whereIn('tenant_id', [...new Set(tenantIds)]);
    return rows.map((row) => ({
      id: row.id,
      tenantId: row.tenant_id,
      processId: row.process_id,
      endsAt: row.ends_at,
    }));
  }

  async close(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.db
      .knex('waits')
      .whereIn('id', [...ids])
      .delete();
  }
}
