import type { Table } from '../../core/contracts/schema.ts';
import type { Sql } from '../../core/contracts/sql.ts';
import type { Lock, Tables } from '../../core/contracts/storage.ts';
import type { MigrationStep } from './migrations/steps.ts';

/** What the nouns bring to the storage, which knows none of them; `config/tables.ts` puts it together. */
export interface StorageContents {
  readonly tables: TablesMaker;
  /** The rows that locks name, in the order in which all take them. */
  readonly locks: readonly LockRows[];
  /** Every table, for what is done to all alike. */
  readonly schema: readonly Table[];
  /** What makes the database, in the order in which it is applied. */
  readonly steps: readonly MigrationStep[];
}

/** Makes the table objects that run their SQL on what they are given. */
export type TablesMaker = (sql: Sql) => Tables;

/** The rows that one kind of lock takes. */
export interface LockRows {
  readonly prefix: Lock extends `${infer Name}:${string}` ? `${Name}:` : never;
  readonly table: string;
  /** The column of its primary key. */
  readonly key: string;
}
