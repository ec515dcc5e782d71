import type { Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows } from '../../cluster/contract.ts';
import { AccountCountTable } from './account-counts.ts';
import { AccountTable } from './accounts.ts';
import { CredentialTable } from './credentials.ts';
import { LeaseTable, sessionLeases } from './leases.ts';
import { LinkTable } from './links.ts';

/** The table objects of accounts, their credentials and leases. */
export interface AccountTables {
  readonly accounts: AccountTable;
  readonly accountCounts: AccountCountTable;
  readonly leases: LeaseTable;
  readonly credentials: CredentialTable;
  readonly links: LinkTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends AccountTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeAccountTables(
  sql: Sql,
  leases: (table: LeasedTable) => LeaseRows,
): AccountTables {
  return {
    accounts: new AccountTable(sql),
    accountCounts: new AccountCountTable(sql),
    leases: new LeaseTable(sql, leases(sessionLeases)),
    credentials: new CredentialTable(sql),
    links: new LinkTable(sql),
  };
}
