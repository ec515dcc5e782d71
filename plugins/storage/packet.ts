import { createHash } from 'node:crypto';
import type { Connection } from 'mysql2';
import type { Bound } from './bindings.ts';
import type { Statement } from './pipeline.ts';

/** The text of several statements that travel together. */
export interface Packet {
  readonly sql: string;
  /** How many answers the server gives to it. */
  readonly answers: number;
  /** The index of the answer to each statement. */
  readonly positions: readonly number[];
  /** Called once the server has carried the whole packet out. */
  done(): void;
}

/** How a packet is put together beside its statements. */
export interface PacketKind {
  /** BEGIN comes first. */
  readonly begins: boolean;
  /** One answer for all statements is enough: the caller only asks whether they were carried out. */
  readonly discardAnswers: boolean;
}

/** Idle time-out of a transaction in seconds: the server ends it when its process was stopped. */
export const idleTransactionS = 5;

/** MySQL has no idle time-out for transactions, so that of the connection is lowered meanwhile. */
const mysqlBounds = {
  begin: `SET SESSION wait_timeout = ${idleTransactionS}`,
  end: 'SET SESSION wait_timeout = DEFAULT',
};
const endings = new Set<string | undefined>(['COMMIT', 'ROLLBACK']);

/** Prepared statements of one connection: a server allows 16,382 in total by default. */
const mostPrepared = 64;

/** All connections of the server together have too many prepared statements. */
const tooManyNumber = 1461;

/** The server's error numbers that are about statements being prepared rather than about the statements. */
const preparingNumbers = new Set([
  1243, // no such prepared statement: somebody between us and the server shares its connections out
  tooManyNumber,
  1615, // the table changed too often while it was prepared again
]);

/** Whether preparing alone was refused: the same packet passes as plain text. */
export function isRefusalToPrepare(errno: unknown): boolean {
  return typeof errno === 'number' && preparingNumbers.has(errno);
}

/** What the writers of a pool's connections have in common. */
export interface Preparing {
  /** Whether further statements may be prepared. */
  allowed: boolean;
}

/**
 * Writes statements in the form that costs the server least. MariaDB, unlike MySQL, executes prepared statements with
 * values in the text, and takes several statements as one block with one answer, which saves a network packet each.
 */
export class PacketWriter {
  readonly #format: FormatValue;
  /** By text; null: nothing is prepared on this connection. */
  #recurring: Map<string, Recurring> | null;
  /** Whether the server takes several statements as one. */
  readonly #hasBlocks: boolean;
  readonly #preparing: Preparing;

  /** @param preparing shared with the writers of the pool's other connections */
  constructor(escaping: Escaping, isMariadb: boolean, preparing: Preparing = { allowed: true }) {
    this.#format = (value) => literal(escaping, value);
    this.#preparing = preparing;
    this.#recurring = isMariadb ? new Map() : null;
    this.#hasBlocks = isMariadb;
  }

  /** Writes at least one statement. Each gets its values by itself, so that none can get those of another. */
  write(statements: readonly Statement[], { begins, discardAnswers }: PacketKind): Packet {
    const fresh = new Set<Recurring>();
    const texts = statements.map((statement) => this.#textOf(statement, fresh));
    const bounds = this.#hasBlocks ? [] : [mysqlBounds];
    const before = begins ? [...bounds.map(({ begin }) => begin), 'BEGIN'] : [];
    const first = [
      ...before,
      ...[...fresh].map(({ name, sql }) => `prepare ${name} from ${this.#format(sql)}`),
    ];
    const after = endings.has(texts.at(-1)) ? bounds.map(({ end }) => end) : [];
    // The count of statements outside of the block.
    const single = discardAnswers && this.#hasBlocks ? singleOf(texts) : texts.length;
    const block = texts.slice(single);
    const rest = block.length === 0 ? texts : [...texts.slice(0, single), blockOf(block)];
    return {
      sql: [...first, ...rest, ...after].join(';\n'),
      answers: first.length + rest.length + after.length,
      positions: texts.map((_, n) => first.length + Math.min(n, single)),
      done() {
        for (const recurring of fresh) recurring.isPrepared = true;
      },
    };
  }

  /**
   * Forgets all prepared statements after `isRefusalToPrepare`, and prepares no more: on the whole pool when the server
   * has too many.
   */
  stopPreparing(errno: unknown): void {
    this.#recurring = null;
    if (errno === tooManyNumber) this.#preparing.allowed = false;
  }

  /** @param fresh takes what has to be prepared first */
  #textOf({ sql, bindings, recurs }: Statement, fresh: Set<Recurring>): string {
    const recurring = recurs === true && bindings.length > 0 ? this.#recurringOf(sql) : null;
    if (recurring === null) return interpolate(this.#format, sql, bindings);
    if (!recurring.isPrepared) fresh.add(recurring);
    return `execute ${recurring.name} using ${bindings.map(this.#format).join(', ')}`;
  }

  #recurringOf(sql: string): Recurring | null {
    const known = this.#recurring?.get(sql);
    if (known !== undefined) return known;
    if (this.#recurring === null || this.#recurring.size >= mostPrepared) return null;
    if (!this.#preparing.allowed) return null;
    // Named by content hash, so a connection shared by a proxy can never execute another statement under the same name.
    const name = `recurring_${createHash('sha256').update(sql).digest('hex').slice(0, 16)}`;
    const recurring = { sql, name, isPrepared: false };
    this.#recurring.set(sql, recurring);
    return recurring;
  }
}

/** The length in characters from which a statement costs less outside of a block, which copies it. */
const longStatement = 4_096;

/** How many statements precede the block: all up to the last long one, and a single one left over. */
function singleOf(texts: readonly string[]): number {
  const single = texts.findLastIndex(isLong) + 1;
  return texts.length - single < 2 ? texts.length : single;
}

function isLong(text: string): boolean {
  return text.length >= longStatement;
}

function blockOf(texts: readonly string[]): string {
  return `BEGIN NOT ATOMIC\n${texts.join(';\n')};\nEND`;
}

interface Recurring {
  readonly sql: string;
  readonly name: string;
  /** Whether it can be executed; else it is prepared first. */
  isPrepared: boolean;
}

/** The connection of mysql2, which escapes texts. */
type Escaping = Pick<Connection, 'escape'>;

/** Characters to escape between single quotes, as MariaDB and MySQL read them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
const special = /[\0\b\t\n\r\x1a"'\\]/;

/** A value as SQL for MariaDB or MySQL. */
export function literal(escaping: Escaping, value: Bound): string {
  if (typeof value === 'number') return String(value);
  if (value === null) return 'NULL';
  return special.test(value) ? escaping.escape(value) : `'${value}'`;
}

/** Formats a value as SQL. */
type FormatValue = (value: Bound) => string;

/**
 * Puts the values into the placeholders of a statement, in which a question mark is nothing else. Faster than `format`
 * of mysql2, which reads every character.
 * @throws Error when the numbers of placeholders and values differ
 */
export function interpolate(format: FormatValue, sql: string, bindings: readonly Bound[]): string {
  let text = '';
  let rest = 0;
  for (const value of bindings) {
    const index = sql.indexOf('?', rest);
    if (index === -1) throw unequal(sql, bindings);
    text += sql.slice(rest, index) + format(value);
    rest = index + 1;
  }
  if (sql.includes('?', rest)) throw unequal(sql, bindings);
  return text + sql.slice(rest);
}

function unequal(sql: string, { length }: readonly Bound[]): Error {
  return new Error(`a statement does not have ${length} placeholders: ${sql}`);
}
