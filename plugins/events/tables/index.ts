import type { Sql } from '../../../core/contracts/sql.ts';
import { EventTable } from './events.ts';
import { FeedTable } from './feed.ts';

/** The table objects of the outbox and of the feed. */
export interface EventTables {
  readonly events: EventTable;
  readonly feed: FeedTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends EventTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeEventTables(sql: Sql): EventTables {
  return { events: new EventTable(sql), feed: new FeedTable(sql) };
}
