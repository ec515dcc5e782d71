import type { Knex } from 'knex';
import type { DatabasePools } from './connection.ts';
import type { Ask } from './executor.ts';
import { beginMysql } from './mysql-transaction.ts';
import type { Statement } from './pipeline.ts';
import { beginSqlite } from './sqlite-transaction.ts';

/** One open transaction on a connection of its own, which goes back to the pool when it ends. */
export interface Transaction {
  /** Runs a statement; answers what the driver does. Rejects once the transaction is being ended. */
  readonly ask: Ask;
  /** The query builder of knex, on `ask`. */
  builder(ask: Ask): Knex;
  /**
   * Runs the last statements and COMMIT.
   * @throws the error of the first that failed: rolled back then, unless `leavesCommitUnknown`
   */
  commit(last: readonly Statement[]): Promise<void>;
  /** Rolls back an open transaction. Never rejects: the server has rolled back a lost connection. */
  rollBack(): Promise<void>;
}

/** Begins a transaction. The caller ends it with `commit` or `rollBack`. */
export function begin({ dialect, write }: DatabasePools): Promise<Transaction> {
  return dialect === 'mysql' ? beginMysql(write) : beginSqlite(write);
}
