import type { Connection, QueryError } from 'mysql2';
import type { Bound } from './bindings.ts';

/** A statement with its values. */
export interface Statement {
  readonly sql: string;
  readonly bindings: readonly Bound[];
  /** How long its answer may take, in milliseconds, where that is not what every statement has. */
  readonly timeoutMs?: number | undefined;
}

/** What the server answered to one statement, as mysql2 gives it: the rows or the counts, and the columns. */
export type Answer = readonly [rows: unknown, fields: unknown];

interface Waiting extends Statement {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

const ignore = (): void => undefined;

/**
 * The statements of one transaction on MariaDB or MySQL, with as few round trips as they allow: those that are asked
 * for at the same moment travel together, BEGIN with the first of them, and what was kept for the end with COMMIT. The
 * server carries them out in order and stops at the first error, which all of one packet are told.
 */
export class Pipeline {
  /** What travels with COMMIT, in this order. */
  last: readonly Statement[] = [];
  readonly #connection: Connection;
  /** Without any byte for this long the server counts as gone. */
  readonly #silenceMs: number;
  #begun = false;
  #waiting: Waiting[] = [];

  constructor(connection: Connection, silenceMs: number) {
    this.#connection = connection;
    this.#silenceMs = silenceMs;
  }

  /** Asks a statement together with whatever else is asked in this turn of the microtasks. */
  ask(statement: Statement): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...statement, resolve, reject });
      if (this.#waiting.length === 1) process.nextTick(() => this.#send());
    });
  }

  /**
   * Sends the last statements and COMMIT in one packet. Where the server refuses one of them, the transaction is rolled
   * back before anybody else gets the connection.
   */
  async commit(): Promise<void> {
    if (!this.#begun && this.last.length === 0) return;
    const done = this.last.map((statement) => this.ask(statement));
    done.push(this.ask({ sql: 'COMMIT', bindings: [] }));
    try {
      await Promise.all(done);
    } catch (error) {
      // mysql2 keeps the order, so this comes before whatever the next owner of the connection asks.
      this.#connection.query('ROLLBACK', ignore);
      throw error;
    }
  }

  /** Rolls back what was begun. */
  async rollBack(): Promise<void> {
    if (this.#begun) await this.ask({ sql: 'ROLLBACK', bindings: [] });
  }

  #send(): void {
    const sent = this.#waiting;
    this.#waiting = [];
    const sql = sent.map((statement) => statement.sql).join(';\n');
    const before = this.#begun ? 0 : 1;
    this.#begun = true;
    this.#connection.query(
      {
        sql: before === 0 ? sql : `BEGIN;\n${sql}`,
        values: sent.flatMap((statement) => statement.bindings),
        timeout: Math.max(...sent.map(({ timeoutMs }) => timeoutMs ?? this.#silenceMs)),
      },
      (error: QueryError | null, rows: unknown, fields: unknown) => {
        // The answer may still come: this connection cannot be used for anything else.
        if (isSilence(error)) this.#connection.destroy();
        const alone = sent.length + before === 1;
        for (const [n, { resolve, reject }] of sent.entries()) {
          if (error !== null) reject(error);
          else if (alone) resolve([rows, fields]);
          else resolve([at(rows, n + before), at(fields, n + before)]);
        }
      },
    );
  }
}

/** One of the answers to several statements. */
function at(answers: unknown, place: number): unknown {
  if (!Array.isArray(answers)) throw new Error('the server answered one statement of several');
  return answers[place];
}

/** Whether the server has said nothing for too long. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'PROTOCOL_SEQUENCE_TIMEOUT';
}
