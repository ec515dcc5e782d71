import type { Sql } from '../../../core/contracts/sql.ts';
import { AccountTable } from './accounts.ts';
import { CredentialTable } from './credentials.ts';
import { LeaseTable } from './leases.ts';
import { ProcessTable } from './processes.ts';

/** The table objects of accounts, their credentials and leases, and of the processes that hold these. */
export interface AccountTables {
  readonly accounts: AccountTable;
  readonly leases: LeaseTable;
  readonly processes: ProcessTable;
  readonly credentials: CredentialTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends AccountTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeAccountTables(sql: Sql): AccountTables {
  return {
    accounts: new AccountTable(sql),
    leases: new LeaseTable(sql),
    processes: new ProcessTable(sql),
    credentials: new CredentialTable(sql),
  };
}
