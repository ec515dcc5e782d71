import type { Sql } from '../../../core/contracts/sql.ts';
import { EventCursorTable } from './cursors.ts';
import { EventTable } from './events.ts';
import { FeedTable } from './feed.ts';

/** The table objects of the outbox, of the feed and of its cursors. */
export interface EventTables {
  readonly events: EventTable;
  readonly feed: FeedTable;
  readonly eventCursors: EventCursorTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends EventTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeEventTables(sql: Sql): EventTables {
  return {
    events: new EventTable(sql),
    feed: new FeedTable(sql),
    eventCursors: new EventCursorTable(sql),
  };
}
