import type { Sql } from '../../../core/contracts/sql.ts';
import { AuditTable } from './audit.ts';

/** The table objects of the record of changes. */
export interface AuditTables {
  readonly audit: AuditTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends AuditTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeAuditTables(sql: Sql): AuditTables {
  return { audit: new AuditTable(sql) };
}
