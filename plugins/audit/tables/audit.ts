import { deleteSome, SqlTable } from '../../../core/contracts/sql.ts';
import type { AuditRecord } from '../contract.ts';
import type { CompletedChange } from '../lanes.ts';

interface AuditRow {
  readonly id: string;
  readonly tenant_id: string | null;
  readonly actor: string;
  readonly operation: string;
  readonly target: string | null;
  readonly request_id: string | null;
  readonly at: number;
  readonly outcome: 'done' | 'unknown';
}

/** The SQL of the record of changes. */
export class AuditTable extends SqlTable {
  /** Adds entries; those that are there already stay as they are. */
  async insertMissing(records: readonly AuditRecord[]): Promise<void> {
    await this.db.insertIgnore(
      'audit',
      records.map(({ tenantId, requestId, ...record }) => ({
        ...record,
        tenant_id: tenantId,
        request_id: requestId,
      })),
    );
  }

  /** Marks changes as made, and says what they changed. */
  async complete(changes: readonly CompletedChange[]): Promise<void> {
    const rows = changes.map(({ id, tenantId, target }) => {
      return { id, tenant_id: tenantId, target, outcome: 'done' };
    });
    await this.db.updateEach('audit', 'id', rows);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.db.knex('audit').whereIn('id', ids).delete();
  }

  /** The latest entries, newest first. @param tenantId null: of all tenants */
  async latest(tenantId: string | null, limit: number): Promise<readonly AuditRecord[]> {
    const rows: readonly AuditRow[] = await this.db
      .knex('audit')
      .where(tenantId === null ? {} : { tenant_id: tenantId })
      .orderBy([
        { column: 'at', order: 'desc' },
        { column: 'id', order: 'desc' },
      ])
      .limit(limit);
    return rows.map(({ tenant_id, request_id, ...row }) => ({
      ...row,
      tenantId: tenant_id,
      requestId: request_id,
    }));
  }

  /** Deletes a bounded number of entries from before a moment; answers how many. */
  deleteBefore(moment: number, limit: number): Promise<number> {
    return deleteSome(this.db, { table: 'audit', key: 'id', limit }, (rows) =>
      rows.where('at', '<', moment),
    );
  }
}
