import { SqlTable } from '../../../core/contracts/sql.ts';
import type { LimitNotice } from '../contract.ts';
import { deleteDaysBefore } from './old-days.ts';

/** The SQL of limit events already raised. */
export class LimitNoticeTable extends SqlTable {
  /** Keeps that a limit event is raised; false when it was raised before. */
  async raise({ tenantId, day, reason }: LimitNotice): Promise<boolean> {
    const row = { tenant_id: tenantId, day, reason };
    return (await this.db.insertIgnore('limit_notices', [row])) === 1;
  }

  /** Deletes a bounded number of limit events of days before one day; answers how many. */
  deleteBefore(day: string, limit: number): Promise<number> {
    return deleteDaysBefore(this.db, 'limit_notices', day, limit);
  }
}
