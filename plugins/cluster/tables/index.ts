import type { Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows } from '../contract.ts';
import { LeaseHolderTable } from './lease-holders.ts';
import { LeasesOfTable } from './leased-rows.ts';
import { ProcessTable } from './processes.ts';

/** The table objects of the processes and of the leases that they hold. */
export interface ClusterTables {
  readonly processes: ProcessTable;
  readonly leaseHolders: LeaseHolderTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends ClusterTables {}
}

/**
 * Makes them for one transaction, or for the connections that only read.
 * @param leased every table whose rows are leased
 * @returns also `leases`, which makes those of one of these tables
 */
export function makeClusterTables(sql: Sql, leased: readonly LeasedTable[]) {
  const leaseHolders = new LeaseHolderTable(sql, leased);
  const tables: ClusterTables = { processes: new ProcessTable(sql), leaseHolders };
  const leases = (table: LeasedTable): LeaseRows => new LeasesOfTable(sql, leaseHolders, table);
  return { tables, leases };
}
