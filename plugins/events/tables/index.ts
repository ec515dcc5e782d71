import type { Sql } from '../../../core/contracts/sql.ts';
import { EventTable } from './events.ts';

/** The table object of the outbox. */
export interface EventTables {
  readonly events: EventTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends EventTables {}
}

/** Makes it for one transaction, or for the connections that only read. */
export function makeEventTables(sql: Sql): EventTables {
  return { events: new EventTable(sql) };
}
