import { resolve } from 'node:path';
import knexModule, { type Knex } from 'knex';
import BetterSqliteClient from 'knex/lib/dialects/better-sqlite3/index.js';
import Libsql from 'libsql';
import type { GatewayLog } from '../../core/log.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import { bindable } from './bindings.ts';
import type { Query } from './builder.ts';
import { fitForLog } from './faults.ts';
import { knexLog } from './knex-log.ts';
import { makePrivate, refuseUnusable, whenFree } from './sqlite-file.ts';
import { answerQuery, runStatement } from './sqlite-statements.ts';

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
 * Opens the file, or makes it for this user alone, with two connections. The writer's transactions hold the write lock
 * from their start.
 * The reader only reads, and always sees the last commit.
 * @param path as in DATABASE_URL after `sqlite:`, relative to the working directory
 * @param examines opens one that is there, and leaves its mode
 */
export function openSqlite(
  path: string,
  log: GatewayLog,
  examines = false,
): { readonly write: Knex; readonly read: Knex } {
  if (path === '' || path === ':memory:') {
    throw new StartRefusal('DATABASE_URL must name a file, for example sqlite:./data/gateway.db');
  }
  const filename = resolve(path);
  if (examines) refuseUnusable(filename);
  else makePrivate(filename);
  return { write: open(LibsqlWriter, filename, log), read: open(LibsqlReader, filename, log) };
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
    answerQuery(query, runStatement(connection, query.sql, bindable(query.bindings ?? [])));
    return query;
  }
}

class LibsqlWriter extends LibsqlClient {
  protected override pragmas() {
    return [
      // Set before the first write: an existing file keeps its setting.
      'auto_vacuum = INCREMENTAL',
      'journal_mode = WAL',
      'synchronous = FULL',
      // What was deleted is overwritten: an erased person is in no page of the file.
      'secure_delete = ON',
      `wal_autocheckpoint = ${journalPages}`,
      `journal_size_limit = ${journalLimit}`,
    ];
  }

  /** Copies the log into the file first, so that the file alone is all of a gateway that has stopped. */
  override async destroyRawConnection(connection: Libsql.Database): Promise<void> {
    try {
      connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
    } catch {
      // The log keeps what a full disk has no room for, as beside another reader: whoever opens the file reads both.
    }
    connection.close();
  }
}

class LibsqlReader extends LibsqlClient {
  protected override pragmas() {
    return ['query_only = 1'];
  }
}

function filenameOf(settings: object): string {
  if ('filename' in settings && typeof settings.filename === 'string') return settings.filename;
  throw new Error('the SQLite connection has no file name');
}
