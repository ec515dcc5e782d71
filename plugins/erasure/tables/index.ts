import type { Sql } from '../../../core/contracts/sql.ts';
import { ErasureTable } from './erasures.ts';
import { TenantRowTable } from './tenant-rows.ts';

/** The table objects of erasures. */
export interface ErasureTables {
  readonly erasures: ErasureTable;
  readonly tenantRows: TenantRowTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends ErasureTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeErasureTables(sql: Sql): ErasureTables {
  return { erasures: new ErasureTable(sql), tenantRows: new TenantRowTable(sql) };
}
