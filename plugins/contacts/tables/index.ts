import type { Sql } from '../../../core/contracts/sql.ts';
import { ContactAliasTable } from './contact-aliases.ts';
import { ContactTable } from './contacts.ts';

/** The table objects of contacts. */
export interface ContactTables {
  readonly contacts: ContactTable;
  readonly contactAliases: ContactAliasTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends ContactTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeContactTables(sql: Sql): ContactTables {
  return {
    contacts: new ContactTable(sql),
    contactAliases: new ContactAliasTable(sql),
  };
}
