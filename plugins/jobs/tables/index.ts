import type { Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows } from '../../cluster/contract.ts';
import { JobTable, jobLeases } from './jobs.ts';

/** The table object of jobs. */
export interface JobTables {
  readonly jobs: JobTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends JobTables {}
}

/** Makes it for one transaction, or for the connections that only read. */
export function makeJobTables(sql: Sql, leases: (table: LeasedTable) => LeaseRows): JobTables {
  return { jobs: new JobTable(sql, leases(jobLeases)) };
}
