import Database from 'libsql';
import { schema } from './schema.ts';

/** Another process has this network's file open. */
export class StoreTaken extends Error {}

/**
 * The network's state on disk, in one SQLite file that one process has to itself. Writes gather in a
 * transaction until `commit`; nobody else reads the file, so reads see them at once.
 */
export class NetworkFile {
  readonly #db: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();
  /** Called when the first write after a commit was made. */
  onBegin: () => void = () => undefined;
  /** Hook before COMMIT: what the hook writes is part of the transaction. */
  beforeCommit: () => void = () => undefined;
  #open = false;

  /** @throws StoreTaken when another process has it */
  constructor(file: string) {
    this.#db = new Database(file);
    try {
      // An exclusive lock that the system takes back when the process dies: never two networks.
      this.#db.pragma('locking_mode = EXCLUSIVE');
      this.#db.pragma('journal_mode = WAL');
      this.#db.pragma('synchronous = NORMAL');
      this.#db.exec(schema);
    } catch (error) {
      this.#db.close();
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY'))
        throw new StoreTaken(`another process has ${file} open`);
      throw error;
    }
  }

  /** Makes durable what was written since the last commit. A failure is fatal for the process. */
  commit(): void {
    if (!this.#open) return;
    this.beforeCommit();
    this.#open = false;
    this.#db.exec('COMMIT');
  }

  close(): void {
    this.commit();
    this.#db.close();
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
