import Database from 'libsql';
import { schema } from './schema.ts';

/** Another process has this network's file open. */
export class StoreTaken extends Error {}

/**
 * The network's state on disk, in one SQLite file that one process writes; a backup may read it meanwhile. Writes gather
 * in a transaction until `commit`, and reads of this process see them at once.
 */
export class NetworkFile {
  readonly #db: Database.Database;
  readonly #lock: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  /** Called when the first write after a commit was made. */
  onBegin: () => void = () => undefined;
  /** Hook before COMMIT: what the hook writes is part of the transaction. */
  beforeCommit: () => void = () => undefined;
  #open = false;
  #scrubs = false;

  /** @throws StoreTaken when another process has it */
  constructor(file: string) {
    this.#lock = locked(file);
    this.#db = new Database(file);
    this.#db.pragma('busy_timeout = 5000');
    this.#db.pragma('journal_mode = WAL');
    this.#db.pragma('synchronous = NORMAL');
    // What is deleted stays in no free page, nor in a backup of them.
    this.#db.pragma('secure_delete = ON');
    this.#db.exec(schema);
  }

  /** Makes durable what was written since the last commit. A failure is fatal for the process. */
  commit(): void {
    if (!this.#open) return;
    this.beforeCommit();
    this.#open = false;
    this.#db.exec('COMMIT');
    if (!this.#scrubs) return;
    this.#scrubs = false;
    this.#db.pragma('wal_checkpoint(TRUNCATE)');
  }

  /** Has the log beside the file emptied with the next commit: it still has what is deleted in that. */
  scrub(): void {
    this.#scrubs = true;
  }

  close(): void {
    this.commit();
    this.#db.close();
    this.#lock.close();
  }

  protected run(sql: string, ...values: (string | number | null)[]): number {
    if (!this.#open) {
      this.#db.exec('BEGIN IMMEDIATE');
      this.#open = true;
      this.onBegin();
    }
    return Number(this.#statement(sql).run(...values).lastInsertRowid);
  }

  protected all(sql: string, ...values: (string | number | null)[]): Record<string, unknown>[] {
    // Rows are objects by column name by default.
    return this.#statement(sql).all(...values) as Record<string, unknown>[];
  }

  #statement(sql: string): Database.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/**
 * Locks a network's file by a file of its own beside it: never two networks. The system gives the lock back when the
 * process dies.
 */
function locked(file: string): Database.Database {
  const lock = new Database(`${file}.lock`);
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY'))
      throw new StoreTaken(`another process has ${file} open`);
    throw error;
  }
}
