import type { Sql } from '../../../core/contracts/sql.ts';
import { MediaTable } from './media.ts';

/** The table objects of kept media. */
export interface MediaTables {
  readonly media: MediaTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends MediaTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeMediaTables(sql: Sql): MediaTables {
  return {
    media: new MediaTable(sql),
  };
}
