import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import knexModule, { type Knex } from 'knex';
import BetterSqliteClient from 'knex/lib/dialects/better-sqlite3/index.js';
import Libsql from 'libsql';
import { type Bound, bindable } from './bindings.ts';
import { builderOn, type Query } from './builder.ts';
import { faultOf, fitForLog } from './faults.ts';
import type { Transaction } from './transaction.ts';

/** How long a writer waits for another process's transaction. */
const writeWaitMs = 5_000;

/**
 * How long a statement may block this process's event loop while another process holds the file.
 * Waiting longer is done between attempts, where other work goes on.
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
export function openSqlite(path: string): { readonly write: Knex; readonly read: Knex } {
  if (path === '' || path === ':memory:') {
    throw new Error('DATABASE_URL must name a file, for example sqlite:./data/gateway.db');
  }
  const filename = resolve(path);
  mkdirSync(dirname(filename), { recursive: true, mode: 0o700 });
  return { write: open(LibsqlWriter, filename), read: open(LibsqlReader, filename) };
}

function open(client: typeof LibsqlClient, filename: string): Knex {
  return knexModule({
    client,
    connection: { filename },
    useNullAsDefault: true,
    // Values stay out of error messages, and so out of logs.
    compileSqlOnError: false,
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
    // Changing the journal mode needs the file for itself, which a second process may have just now.
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

/** The prepared statements of one connection. */
interface Prepared {
  /** By their text, the one that was used last at the end. */
  readonly statements: Map<string, Libsql.Statement>;
  /** How long their texts are together. */
  characters: number;
}

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
  const known = prepared.get(connection) ?? { statements: new Map(), characters: 0 };
  prepared.set(connection, known);
  const { statements } = known;
  const statement = statements.get(sql) ?? connection.prepare(sql);
  if (!statements.delete(sql)) known.characters += sql.length;
  statements.set(sql, statement);
  for (const oldest of statements.keys()) {
    if (known.characters <= mostCharacters) break;
    statements.delete(oldest);
    known.characters -= oldest.length;
  }
  return statement;
}

/** Puts into a query of knex's what its dialect expects there. */
function answer(query: Query, found: unknown[] | Libsql.RunResult): void {
  query.response = found;
  if (Array.isArray(found)) return;
  query.context = { lastID: found.lastInsertRowid, changes: found.changes };
}

/** Begins a transaction that holds the write lock from its start. */
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
        // What `ask` above answers.
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

class LibsqlWriter extends LibsqlClient {
  protected override pragmas() {
    return [
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
