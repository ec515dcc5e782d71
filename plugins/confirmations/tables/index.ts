import type { Sql } from '../../../core/contracts/sql.ts';
import { ConfirmationTable } from './confirmations.ts';

/** The table objects of used answers. */
export interface ConfirmationTables {
  readonly confirmations: ConfirmationTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends ConfirmationTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeConfirmationTables(sql: Sql): ConfirmationTables {
  return { confirmations: new ConfirmationTable(sql) };
}
