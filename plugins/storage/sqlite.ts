import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import knexModule, { type Knex } from 'knex';
import BetterSqliteClient from 'knex/lib/dialects/better-sqlite3/index.js';
import Libsql from 'libsql';
import { LRUCache } from 'lru-cache';
import type { GatewayLog } from '../../core/log.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { type Bound, bindable } from './bindings.ts';
import { builderOn, type Query } from './builder.ts';
import { faultOf, fitForLog } from './faults.ts';
import { knexLog } from './knex-log.ts';
import type { Transaction } from './transaction.ts';

/** How long a writer waits for another process's transaction. */
const writeWaitMs = 5_000;

/**
 * How long a statement may block the event loop while another process has the file. Longer waits are pauses between
 * attempts.
 */
const blockingWaitMs = 20;

/**
 * How long the log gets before it is copied into the file: 16 MiB of pages. The same pages are written by one
 * transaction after the other, and are copied once.
 */
const journalPages = 4_096;

/** Keeps the log from staying large after a burst: 64 MiB. */
const journalLimit = 67_108_864;

/**
 * Opens the file, which is made if need be, twice: one connection that writes, in transactions that hold the
 * write lock from their start, and one that can only read and always sees the last commit.
 * @param path as it stands in DATABASE_URL after `sqlite:`, relative to the working directory
 */
export function openSqlite(
  path: string,
  log: GatewayLog,
): { readonly write: Knex; readonly read: Knex } {
  if (path === '' || path === ':memory:') {
    throw new StartRefusal('DATABASE_URL must name a file, for example sqlite:./data/gateway.db');
  }
  const filename = resolve(path);
  makePrivate(filename);
  return { write: open(LibsqlWriter, filename, log), read: open(LibsqlReader, filename, log) };
}

/**
 * Makes the database readable for this user only. SQLite gives its log and its index the mode of the file. A folder
 * that was empty belongs to the gateway alone; any other keeps its mode.
 * @throws the file system's error when the file cannot be read and written
 */
function makePrivate(filename: string): void {
  const folder = dirname(filename);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const isEmpty = readdirSync(folder).length === 0;
    // Only a new file is opened: closing one that is in use would drop SQLite's locks on it.
    closeSync(openSync(filename, 'wx', 0o600));
    if (isEmpty) restrict(folder, 0o700);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    accessSync(filename, constants.R_OK | constants.W_OK);
    for (const ending of ['', '-wal', '-shm']) restrict(`${filename}${ending}`, 0o600);
  }
}

/** Removes the rights of other users from a file or folder of this user. A missing or foreign one stays as it is. */
function restrict(path: string, mode: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  const isOwn = found?.uid === process.getuid?.();
  if (found !== undefined && isOwn && (found.mode & 0o1077) > 0) chmodSync(path, mode);
}

function open(client: typeof LibsqlClient, filename: string, log: GatewayLog): Knex {
  return knexModule({
    client,
    connection: { filename },
    useNullAsDefault: true,
    // Values stay out of error messages, and so out of logs.
    compileSqlOnError: false,
    log: knexLog(log),
    pool: { min: 1, max: 1 },
  });
}

/** knex's better-sqlite3 dialect on libsql, which has the same interface and needs no compiler. */
class LibsqlClient extends BetterSqliteClient {
  /** What each new connection sets. */
  protected pragmas(): readonly string[] {
    return [];
  }

  override _driver(): unknown {
    return Libsql;
  }

  override async acquireRawConnection(): Promise<Libsql.Database> {
    const connection = new Libsql(filenameOf(this.connectionSettings));
    connection.exec(`PRAGMA busy_timeout = ${blockingWaitMs}`);
    // The journal mode needs the file for itself, which a second process may have just now.
    for (const pragma of this.pragmas()) await whenFree(() => connection.exec(`PRAGMA ${pragma}`));
    return connection;
  }

  override async query(connection: unknown, query: unknown): Promise<unknown> {
    try {
      return await super.query(connection, query);
    } catch (error) {
      throw fitForLog(error);
    }
  }

  async _query(connection: Libsql.Database, query: Query): Promise<Query> {
    answer(query, runStatement(connection, query.sql, bindable(query.bindings ?? [])));
    return query;
  }
}

/** The prepared statements of one connection, by their text. */
type Prepared = LRUCache<string, Libsql.Statement>;

const prepared = new WeakMap<Libsql.Database, Prepared>();

/** Of one connection. SQLite needs up to 40 bytes for each character of an insert with many rows. */
const mostCharacters = 500_000;

/**
 * Runs a statement, which is prepared once and kept for the next time.
 * @param values checked by `bindable`
 * @returns its rows, or what it changed when it brings none
 */
function runStatement(
  connection: Libsql.Database,
  sql: string,
  values: readonly Bound[],
): unknown[] | Libsql.RunResult {
  const statement = statementOf(connection, sql);
  // libsql binds every number as a REAL; as a bigint it stays an INTEGER.
  const bound = values.map((value) =>
    Number.isSafeInteger(value) ? BigInt(value as number) : value,
  );
  return statement.reader ? statement.all(bound) : statement.run(bound);
}

function statementOf(connection: Libsql.Database, sql: string): Libsql.Statement {
  const statements = prepared.get(connection) ?? statementCache();
  prepared.set(connection, statements);
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const statement = connection.prepare(sql);
  statements.set(sql, statement);
  return statement;
}

function statementCache(): Prepared {
  return new LRUCache({ maxSize: mostCharacters, sizeCalculation: (_, sql) => sql.length });
}

/** Completes a query of knex as its dialect expects it. */
function answer(query: Query, found: unknown[] | Libsql.RunResult): void {
  query.response = found;
  if (Array.isArray(found)) return;
  query.context = { lastID: found.lastInsertRowid, changes: found.changes };
}

/** Begins a transaction, which has the write lock from its start. */
export async function beginSqlite(write: Knex): Promise<Transaction> {
  const { client } = write;
  const connection: Libsql.Database = await client.acquireConnection();
  const run = (sql: string) => void runStatement(connection, sql, []);
  try {
    // A COMMIT that failed (a full disk) leaves its transaction open.
    if (connection.inTransaction) run('ROLLBACK');
    await whenFree(() => run('BEGIN IMMEDIATE'));
  } catch (error) {
    client.releaseConnection(connection);
    throw error;
  }
  let over = false;
  const end = async (ending: () => void) => {
    over = true;
    try {
      ending();
    } catch (error) {
      throw fitForLog(error);
    } finally {
      client.releaseConnection(connection);
    }
  };
  return {
    async ask({ sql, bindings }) {
      if (over) throw new Error('the transaction is over');
      return runStatement(connection, sql, bindings);
    },
    builder: (ask) =>
      builderOn(write, async (query) => {
        const bindings = bindable(query.bindings ?? []);
        // The same answers as those of `ask`.
        const found = await ask({ sql: query.sql, bindings });
        answer(query, found as unknown[] | Libsql.RunResult);
      }),
    commit: (last) =>
      end(() => {
        try {
          for (const { sql, bindings } of last) runStatement(connection, sql, bindings);
          run('COMMIT');
        } catch (error) {
          if (connection.inTransaction) run('ROLLBACK');
          throw error;
        }
      }),
    async rollBack() {
      if (!over) await end(() => run('ROLLBACK')).catch(() => undefined);
    },
  };
}

/**
 * Gives pages that are free back to the file system. Nothing else may be under way on the connection.
 * @param pages at most so many; null copies the log into the file, which is then shorter on disk
 */
export async function shrinkSqlite(write: Knex, pages: number | null): Promise<void> {
  const { client } = write;
  const connection: Libsql.Database = await client.acquireConnection();
  try {
    if (connection.inTransaction) return;
    // A query of knex would free one page and stay open.
    connection.exec(
      pages === null ? 'PRAGMA wal_checkpoint(PASSIVE)' : `PRAGMA incremental_vacuum(${pages})`,
    );
  } finally {
    client.releaseConnection(connection);
  }
}

class LibsqlWriter extends LibsqlClient {
  protected override pragmas() {
    return [
      // Set before the first write: an existing file keeps its setting.
      'auto_vacuum = INCREMENTAL',
      'journal_mode = WAL',
      'synchronous = FULL',
      `wal_autocheckpoint = ${journalPages}`,
      `journal_size_limit = ${journalLimit}`,
    ];
  }
}

class LibsqlReader extends LibsqlClient {
  protected override pragmas() {
    return ['query_only = 1'];
  }
}

/** Repeats an action that finds the file busy, without blocking the event loop in between. */
async function whenFree(action: () => void): Promise<void> {
  const deadline = performance.now() + writeWaitMs;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (faultOf(error) !== 'contention' || performance.now() > deadline) throw error;
      await pause(1 + Math.random() * 9);
    }
  }
}

function filenameOf(settings: object): string {
  if ('filename' in settings && typeof settings.filename === 'string') return settings.filename;
  throw new Error('the SQLite connection has no file name');
}
