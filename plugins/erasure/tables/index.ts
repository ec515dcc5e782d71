import type { Sql } from '../../../core/contracts/sql.ts';
import { ErasureTable } from './erasures.ts';

/** The table object of erasures. */
export interface ErasureTables {
  readonly erasures: ErasureTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends ErasureTables {}
}

/** Makes it for one transaction, or for the connections that only read. */
export function makeErasureTables(sql: Sql): ErasureTables {
  return { erasures: new ErasureTable(sql) };
}
