import type { LimitNotice } from '../../messages/contract.ts';
import { type Executor, holes } from '../executor.ts';

interface NoticeColumns {
  readonly tenant_id: string;
  readonly day: string;
  readonly reason: string;
}

/** The SQL of limit events already raised. */
export class LimitNoticeTable {
  protected readonly db: Executor;

  constructor(db: Executor) {
    this.db = db;
  }

  /** What was raised for these tenants on a day. */
  async of(tenantIds: readonly string[], day: string): Promise<readonly LimitNotice[]> {
    if (tenantIds.length === 0) return [];
    const tenants = [...new Set(tenantIds)];
    const rows = await this.db.rows<NoticeColumns>(
      `select * from limit_notices where tenant_id in (${holes(tenants.length)}) and day = ?`,
      [...tenants, day],
    );
    return rows.map((row) => ({ tenantId: row.tenant_id, day: row.day, reason: row.reason }));
  }

  async add(notices: readonly LimitNotice[]): Promise<void> {
    await this.db.insertIgnore(
      'limit_notices',
      notices.map((notice) => ({
        tenant_id: notice.tenantId,
        day: notice.day,
        reason: notice.reason,
      })),
    );
  }
}
