import type { Sql } from '../../../core/contracts/sql.ts';
import { LimitNoticeTable } from './limit-notices.ts';
import { OpenerRefusalTable } from './opener-refusals.ts';
import { RefusalTable } from './refusals.ts';
import { UsageTable } from './usage.ts';

/** The table objects of what is counted against the limits, and of what was refused by them. */
export interface LimitTables {
  readonly usage: UsageTable;
  readonly limitNotices: LimitNoticeTable;
  readonly openerRefusals: OpenerRefusalTable;
  readonly refusals: RefusalTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends LimitTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeLimitTables(sql: Sql): LimitTables {
  return {
    usage: new UsageTable(sql),
    limitNotices: new LimitNoticeTable(sql),
    openerRefusals: new OpenerRefusalTable(sql),
    refusals: new RefusalTable(sql),
  };
}
