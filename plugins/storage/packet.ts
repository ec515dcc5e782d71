import { createHash } from 'node:crypto';
import { type Escaping, type FormatValue, interpolate, literal } from './literals.ts';
import type { Statement } from './pipeline.ts';

/** The text of several statements that travel together. */
export interface Packet {
  readonly sql: string;
  /** How many answers the server gives to it. */
  readonly answers: number;
  /** Which of them is that to each statement. */
  readonly places: readonly number[];
  /** The server has carried all of it out. */
  done(): void;
}

/** What a packet holds beside its statements, and how they go together. */
export interface PacketKind {
  /** BEGIN comes first. */
  readonly begins: boolean;
  /** One answer to all statements is enough: who asks wants to know no more than that they were carried out. */
  readonly discardAnswers: boolean;
}

/** How long the server lets a transaction idle before it ends it, in seconds: its process may have been stopped. */
export const idleTransactionS = 5;

/** MySQL has no such bound for transactions alone, so that of the connection is lowered while one is open. */
const mysqlBounds = {
  begin: `SET SESSION wait_timeout = ${idleTransactionS}`,
  end: 'SET SESSION wait_timeout = DEFAULT',
};
const endings = new Set<string | undefined>(['COMMIT', 'ROLLBACK']);

/** Prepared statements of one connection: a server has 16,382 for all of them, unless told otherwise. */
const mostPrepared = 64;

/** All connections of the server together have too many prepared statements. */
const tooManyNumber = 1461;

/** The server's error numbers that are about statements being prepared rather than about the statements. */
const preparingNumbers = new Set([
  1243, // no such prepared statement: somebody between us and the server shares its connections out
  tooManyNumber,
  1615, // the table changed too often while it was prepared again
]);

/** Whether the server refused a packet only because of how it was written: the same goes as plain text. */
export function isRefusalToPrepare(errno: unknown): boolean {
  return typeof errno === 'number' && preparingNumbers.has(errno);
}

/** What the writers of a pool's connections have in common. */
export interface Preparing {
  /** Whether further statements may be prepared. */
  allowed: boolean;
}

/**
 * Puts statements into the words that cost the server of one connection least. MariaDB, not MySQL, executes what it has
 * prepared with values in the text, and carries out several statements in one block, with one answer: each answer
 * is a packet of its own on the line, for which both sides are woken.
 */
export class PacketWriter {
  readonly #spell: FormatValue;
  /** By text; null: nothing is prepared on this connection. */
  #recurring: Map<string, Recurring> | null;
  /** Whether the server takes several statements as one. */
  readonly #hasBlocks: boolean;
  readonly #preparing: Preparing;

  /** @param preparing shared with the writers of the pool's other connections */
  constructor(escaping: Escaping, isMariadb: boolean, preparing: Preparing = { allowed: true }) {
    this.#spell = (value) => literal(escaping, value);
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
      ...[...fresh].map(({ name, sql }) => `prepare ${name} from ${this.#spell(sql)}`),
    ];
    const after = endings.has(texts.at(-1)) ? bounds.map(({ end }) => end) : [];
    // So many go by themselves, the others in one block.
    const single = discardAnswers && this.#hasBlocks ? singleOf(texts) : texts.length;
    const block = texts.slice(single);
    const rest = block.length === 0 ? texts : [...texts.slice(0, single), blockOf(block)];
    return {
      sql: [...first, ...rest, ...after].join(';\n'),
      answers: first.length + rest.length + after.length,
      places: texts.map((_, n) => first.length + Math.min(n, single)),
      done() {
        for (const recurring of fresh) recurring.isPrepared = true;
      },
    };
  }

  /**
   * The server refused to go on as `isRefusalToPrepare` says: what was prepared is forgotten, and nothing further is
   * prepared, by all writers of the pool where there are too many.
   */
  stopPreparing(errno: unknown): void {
    this.#recurring = null;
    if (errno === tooManyNumber) this.#preparing.allowed = false;
  }

  /** @param fresh takes what has to be prepared first */
  #textOf({ sql, bindings, recurs }: Statement, fresh: Set<Recurring>): string {
    const recurring = recurs === true && bindings.length > 0 ? this.#recurringOf(sql) : null;
    if (recurring === null) return interpolate(this.#spell, sql, bindings);
    if (!recurring.isPrepared) fresh.add(recurring);
    return `execute ${recurring.name} using ${bindings.map(this.#spell).join(', ')}`;
  }

  #recurringOf(sql: string): Recurring | null {
    const known = this.#recurring?.get(sql);
    if (known !== undefined) return known;
    if (this.#recurring === null || this.#recurring.size >= mostPrepared) return null;
    if (!this.#preparing.allowed) return null;
    // Who is handed another's connection finds the same statement under a name, or none.
    const name = `recurring_${createHash('sha256').update(sql).digest('hex').slice(0, 16)}`;
    const recurring = { sql, name, isPrepared: false };
    this.#recurring.set(sql, recurring);
    return recurring;
  }
}

/** From how many characters on a statement costs less by itself: a block copies its statements while it reads them. */
const longStatement = 4_096;

/** How many statements from the first on go by themselves: all up to the last long one, and one that would be alone. */
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
  /** Else it is prepared, or prepared again, before it is executed. */
  isPrepared: boolean;
}
