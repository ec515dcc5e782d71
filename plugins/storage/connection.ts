import type { Knex } from 'knex';
import type { Dialect } from '../../core/contracts/sql.ts';
import type { GatewayLog } from '../../core/log.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import type { Transaction } from './executor.ts';
import { openMysql, renewMysql } from './mysql.ts';
import { beginMysql } from './pipeline.ts';
import { openSqlite } from './sqlite.ts';
import { beginSqlite } from './sqlite-transaction.ts';

/** What is wanted of the database. */
export type Access = 'read' | 'write';

/** The connections of one process to its database. */
export interface DatabasePools {
  readonly dialect: Dialect;
  /** For transactions. On SQLite a single connection. */
  readonly write: Knex;
  /** For reads at the state of the last commit; refuses to write. */
  readonly read: Knex;
  /** Begins a transaction; the caller ends it with `commit` or `rollBack`. */
  begin(): Promise<Transaction>;
  /**
   * Has those that read, or write, opened anew before they are used again: the address may lead to another server by now.
   * Does nothing on SQLite.
   */
  renew(access: Access): void;
  /** Closes all of them; resolves when they are closed. */
  close(): Promise<void>;
}

/**
 * Opens the database that DATABASE_URL names. Connects with the first statement.
 * @param ca certificates in PEM of whoever signs the database server's
 * @param examines makes no file of an embedded database, and leaves the modes of those that are there
 * @throws StartRefusal when the address is of neither kind
 */
export function connect(
  url: string,
  log: GatewayLog,
  ca?: string,
  examines = false,
): DatabasePools {
  const dialect = dialectOf(url);
  const { write, read } =
    dialect === 'mysql'
      ? openMysql(url, log, ca)
      : openSqlite(url.slice('sqlite:'.length), log, examines);
  return {
    dialect,
    write,
    read,
    begin: () => (dialect === 'mysql' ? beginMysql(write) : beginSqlite(write)),
    renew: (access) => renewMysql(access === 'read' ? read : write),
    close: async () => {
      await Promise.all([write.destroy(), read.destroy()]);
    },
  };
}

/**
 * The dialect of a DATABASE_URL.
 * @throws StartRefusal when the address is of neither kind
 */
export function dialectOf(url: string): Dialect {
  if (url.startsWith('mysql://')) return 'mysql';
  if (url.startsWith('sqlite:')) return 'sqlite';
  throw new StartRefusal(
    'DATABASE_URL must be mysql://user:password@host:port/database or sqlite:PATH of a file',
  );
}
