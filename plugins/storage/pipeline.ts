import type { Knex } from 'knex';
import type { Connection, QueryError } from 'mysql2';
import { type Bound, bindable } from './bindings.ts';
import { builderOn } from './builder.ts';
import type { Transaction } from './executor.ts';
import { fitForLog, isAnswerTimeout, UnexpectedAnswer } from './faults.ts';
import { answerTimeoutMs, writerOf } from './mysql.ts';
import { isRefusalToPrepare, type Packet, type PacketWriter } from './packet.ts';
import { dividedBySize, sizeOf } from './sql-text.ts';

/** A statement with its values. */
export interface Statement {
  readonly sql: string;
  readonly bindings: readonly Bound[];
  /** A recurring text, of which there are few: kept prepared where the server can. */
  readonly recurs?: boolean | undefined;
  /** Time-out of this statement in milliseconds; absent: that of all statements. */
  readonly timeoutMs?: number | undefined;
}

/** What the server answered to one statement, as mysql2 gives it: the rows or the counts, and the columns. */
export type StatementResult = readonly [rows: unknown, fields: unknown];

interface Waiting extends Statement {
  /** The answer is not read by anybody. */
  readonly discardAnswers: boolean;
  resolve(answer: StatementResult): void;
  reject(error: unknown): void;
}

/**
 * Pipeline of one transaction on MariaDB or MySQL. Statements of one turn travel in one packet, BEGIN with the first,
 * deferred writes with COMMIT. The server stops at the first error, which rejects every statement of the packet.
 */
export class Pipeline {
  readonly #connection: Connection;
  readonly #writer: PacketWriter;
  /** Time-out of a packet in milliseconds; after it the server counts as gone. */
  readonly #answerTimeoutMs: number;
  #begun = false;
  #over = false;
  #waiting: Waiting[] = [];
  readonly #underWay = new Set<Waiting>();

  /** @param writer the connection's own, for as long as that lives */
  constructor(connection: Connection, writer: PacketWriter, answerTimeoutMs: number) {
    this.#connection = connection;
    this.#writer = writer;
    this.#answerTimeoutMs = answerTimeoutMs;
  }

  /**
   * Sends a statement in the packet of this turn of the microtasks. Rejects once the transaction is being ended: the
   * connection may be in other hands by then.
   */
  ask(statement: Statement): Promise<StatementResult> {
    if (this.#over) return Promise.reject(new Error('the transaction is over'));
    return this.#ask(statement);
  }

  /**
   * Sends the last statements and COMMIT, in order, in as few packets as the size allows. After a refusal the
   * transaction is rolled back before this rejects, so before the connection is reused.
   */
  async commit(last: readonly Statement[]): Promise<void> {
    this.#over = true;
    if (!this.#isUsed && last.length === 0) return;
    try {
      for (const packet of packets([...last, { sql: 'COMMIT', bindings: [] }])) {
        await Promise.all(packet.map((statement) => this.#ask(statement, true)));
      }
    } catch (error) {
      // A failed rollback destroys the connection, and with it the transaction.
      await this.rollBack().catch(() => this.#connection.destroy());
      throw error;
    }
  }

  /** Rolls back what was begun. */
  async rollBack(): Promise<void> {
    this.#over = true;
    if (this.#isUsed) await this.#ask({ sql: 'ROLLBACK', bindings: [] });
  }

  /** A statement was asked, sent or not. */
  get #isUsed(): boolean {
    return this.#begun || this.#waiting.length > 0;
  }

  #ask(statement: Statement, discardAnswers = false): Promise<StatementResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...statement, discardAnswers, resolve, reject });
      if (this.#waiting.length === 1) process.nextTick(() => this.#send());
    });
  }

  #send(): void {
    const sent = this.#waiting;
    this.#waiting = [];
    const packet = this.#write(sent);
    if (packet === null) return;
    for (const waiting of sent) this.#underWay.add(waiting);
    const timeout = Math.max(...sent.map(({ timeoutMs }) => timeoutMs ?? this.#answerTimeoutMs));
    this.#begun = true;
    this.#connection.query(
      // Null keeps mysql2 from searching the text for placeholders.
      { sql: packet.sql, values: null, timeout },
      (error: QueryError | null, rows: unknown, fields: unknown) => {
        if (isAnswerTimeout(error)) this.#giveUp(error);
        for (const waiting of sent) this.#underWay.delete(waiting);
        if (error !== null) {
          if (isRefusalToPrepare(error.errno)) this.#writer.stopPreparing(error.errno);
          for (const { reject } of sent) reject(error);
          return;
        }
        packet.done();
        const [all, columns] = packet.answers === 1 ? [[rows], [fields]] : [rows, fields];
        if (!isList(all, packet.answers) || !isList(columns, packet.answers)) {
          for (const { reject } of sent) reject(new UnexpectedAnswer());
          return;
        }
        for (const [n, position] of packet.positions.entries()) {
          sent[n]?.resolve([all[position], columns[position]]);
        }
      },
    );
  }

  /** Null when a statement cannot be written; all statements of the packet reject then. */
  #write(sent: readonly Waiting[]): Packet | null {
    try {
      return this.#writer.write(sent, {
        begins: !this.#begun,
        discardAnswers: sent.every(({ discardAnswers }) => discardAnswers),
      });
    } catch (error) {
      for (const { reject } of sent) reject(error);
      return null;
    }
  }

  /** The connection is unusable: the late answer may still come on it. */
  #giveUp(error: unknown): void {
    this.#connection.destroy();
    // mysql2 does not reject the commands that are still queued.
    for (const { reject } of this.#underWay) reject(error);
  }
}

/** Begins a transaction on MariaDB or MySQL; BEGIN itself travels with the first statement. */
export async function beginMysql(write: Knex): Promise<Transaction> {
  const { client } = write;
  const connection: Connection = await client.acquireConnection();
  const pipeline = new Pipeline(connection, writerOf(connection), answerTimeoutMs);
  let over = false;
  const end = async (ending: () => Promise<void>): Promise<void> => {
    over = true;
    try {
      await ending();
    } catch (error) {
      throw fitForLog(error);
    } finally {
      client.releaseConnection(connection);
    }
  };
  return {
    ask: (statement) => pipeline.ask(statement),
    builder: (ask) =>
      builderOn(write, async (query) => {
        const { sql, options } = query;
        const statement = { sql, bindings: bindable(query.bindings ?? []) };
        query.response = await ask({ ...statement, timeoutMs: options?.timeout });
      }),
    commit: (last) => end(() => pipeline.commit(last)),
    async rollBack() {
      // A failed rollback destroys the connection, and with it the transaction.
      if (!over) await end(() => pipeline.rollBack().catch(() => connection.destroy()));
    },
  };
}

/** Divides statements among packets that are not too large, unless one by itself is. */
function packets<Item extends Statement>(statements: readonly Item[]): Item[][] {
  return dividedBySize(
    statements,
    Number.POSITIVE_INFINITY,
    ({ sql, bindings }) => sql.length + sizeOf(bindings),
  );
}

function isList(value: unknown, length: number): value is readonly unknown[] {
  return Array.isArray(value) && value.length === length;
}
