import type { Knex } from 'knex';
import {
  type Dialect,
  placeholders,
  type Row,
  type Sql,
  type StatementOptions,
  type UpsertRule,
  type Value,
} from '../../core/contracts/sql.ts';
import type { CommitTopic } from '../../core/contracts/storage.ts';
import { bindable } from './bindings.ts';
import type { Statement } from './pipeline.ts';
import { mysqlNow, portions, quoted, rowPortions, updateOf, upsertEnd } from './sql-text.ts';

/** Inserts of at most so many rows are prepared; larger ones differ in text with every number of rows. */
const fewRows = 2;

/** `Sql` on a transaction or on connections, as `core/contracts/sql.ts` describes it for both dialects. */
export class Executor implements Sql {
  readonly dialect: Dialect;
  readonly commitTopics: Set<CommitTopic>;
  readonly #runner: StatementRunner;
  /** The deferred statements; null: statements are run at once. */
  readonly #deferred: Statement[] | null;

  constructor(
    runner: Knex | StatementRunner,
    dialect: Dialect,
    commitTopics = new Set<CommitTopic>(),
    deferred: Statement[] | null = null,
  ) {
    this.#runner = typeof runner === 'function' ? knexRunner(runner) : runner;
    this.dialect = dialect;
    this.commitTopics = commitTopics;
    this.#deferred = deferred;
  }

  /**
   * An executor of the same transaction that defers its statements to COMMIT. It can only write, and answers no counts.
   */
  deferring(deferred: Statement[]): Executor {
    return new Executor(this.#runner, this.dialect, this.commitTopics, deferred);
  }

  get knex(): Knex {
    if (this.#deferred !== null)
      throw new Error('withCommit tables cannot use the query builder; use run()');
    return this.#runner.knex;
  }

  get locking(): string {
    return this.dialect === 'mysql' ? 'for update' : '';
  }

  get lockingFree(): string {
    return this.dialect === 'mysql' ? 'for update skip locked' : '';
  }

  get clock(): string {
    return this.dialect === 'mysql'
      ? 'cast(unix_timestamp(now(3)) * 1000 as signed)'
      : "cast(unixepoch('subsec') * 1000 as integer)";
  }

  get rowClock(): string {
    // A statement of SQLite waits for nothing once it has begun.
    return this.dialect === 'mysql' ? mysqlNow : this.clock;
  }

  async insert(table: string, rows: readonly Row[]): Promise<void> {
    for (const part of rowPortions(rows)) await this.#insertPart('insert into', table, part, '');
  }

  async insertLists(
    table: string,
    columns: readonly string[],
    lists: readonly (readonly Value[])[],
  ): Promise<void> {
    const indexes = columns.flatMap((_, n) => (lists.some((list) => list[n] !== null) ? [n] : []));
    for (const part of portions(lists, indexes.length, (list) => list)) {
      const bindings: Value[] = [];
      for (const list of part) for (const index of indexes) bindings.push(list[index] ?? null);
      const names = indexes.map((index) => columns[index] ?? '');
      await this.#insertValues('insert into', table, names, part.length, bindings, '');
    }
  }

  async insertIgnore(table: string, rows: readonly Row[]): Promise<number> {
    let inserted = 0;
    if (this.#deferred !== null)
      throw new Error('withCommit tables cannot count ignored rows; use unit');
    for (const part of rowPortions(rows)) {
      if (this.dialect === 'sqlite') {
        const answer = await this.#insertPart('insert into', table, part, 'on conflict do nothing');
        inserted += (answer as { changes: number }).changes;
      } else {
        const answer = await this.#insertPart('insert ignore into', table, part, '');
        inserted += insertedOf(answer, table, part.length);
      }
    }
    return inserted;
  }

  async upsert(table: string, rows: readonly Row[], rule: UpsertRule): Promise<void> {
    const end = upsertEnd(this.dialect, table, rule);
    for (const part of rowPortions(rows)) await this.#insertPart('insert into', table, part, end);
  }

  async updateEach(table: string, key: string, rows: readonly Row[]): Promise<number> {
    let matched = 0;
    for (const part of rowPortions(rows, 2)) {
      const { sql, bindings } = updateOf(table, key, part);
      matched += await this.run(sql, bindings, { recurs: part.length === 1 });
    }
    return matched;
  }

  async replaceEach(
    table: string,
    column: string,
    values: ReadonlyMap<string, string>,
  ): Promise<void> {
    const name = quoted(column);
    for (const part of portions([...values], 3, (pair) => pair)) {
      await this.run(
        `update ${quoted(table)} set ${name} = case ${name} ${'when ? then ? '.repeat(part.length)}end
         where ${name} in (${placeholders(part.length)})`,
        [...part.flat(), ...part.map(([held]) => held)],
      );
    }
  }

  async rows<Result>(
    sql: string,
    bindings: readonly Value[] = [],
    { recurs }: StatementOptions = {},
  ): Promise<Result[]> {
    if (this.#deferred !== null) throw new Error('withCommit tables cannot read; use unit');
    const answer = await this.#runner.ask({ sql, bindings: bindable(bindings), recurs });
    // mysql2 answers [rows, fields], libsql the rows; the SQL decides their type.
    return (this.dialect === 'mysql' ? (answer as [Result[]])[0] : answer) as Result[];
  }

  async run(
    sql: string,
    bindings: readonly Value[] = [],
    { recurs }: StatementOptions = {},
  ): Promise<number> {
    const statement = { sql, bindings: bindable(bindings), recurs };
    if (this.#deferred !== null) {
      this.#deferred.push(statement);
      return 0;
    }
    const answer = await this.#runner.ask(statement);
    if (this.dialect === 'mysql') return (answer as [{ affectedRows: number }])[0].affectedRows;
    return (answer as { changes: number }).changes;
  }

  /** One statement; knex's own multi-row insert is limited to 500 rows on SQLite. */
  async #insertPart(
    start: string,
    table: string,
    rows: readonly Row[],
    end: string,
  ): Promise<unknown> {
    const columns = Object.keys(rows[0] ?? {});
    const bindings: Value[] = [];
    for (const row of rows) for (const column of columns) bindings.push(row[column] ?? null);
    return this.#insertValues(start, table, columns, rows.length, bindings, end);
  }

  async #insertValues(
    start: string,
    table: string,
    columns: readonly string[],
    count: number,
    bindings: readonly Value[],
    end: string,
  ): Promise<unknown> {
    const values = `(${placeholders(columns.length)}), `.repeat(count).slice(0, -2);
    const sql = `${start} ${quoted(table)} (${columns.map(quoted).join(', ')}) values ${values} ${end}`;
    const statement = { sql, bindings: bindable(bindings), recurs: count <= fewRows };
    if (this.#deferred === null) return await this.#runner.ask(statement);
    this.#deferred.push(statement);
    return undefined;
  }
}

/** Runs a statement: answers what knex's `raw` does. */
export type Ask = (statement: Statement) => Promise<unknown>;

/** One open transaction on a connection of its own, which goes back to the pool when it ends. */
export interface Transaction {
  /** Runs a statement; answers what the driver does. Rejects once the transaction is being ended. */
  readonly ask: Ask;
  /** The query builder of knex, on `ask`. */
  builder(ask: Ask): Knex;
  /**
   * Runs the last statements and COMMIT.
   * @throws the error of the first that failed: rolled back then, unless `leavesCommitUnknown`
   */
  commit(last: readonly Statement[]): Promise<void>;
  /** Rolls back an open transaction. Never rejects: the server has rolled back a lost connection. */
  rollBack(): Promise<void>;
}

/** The two ways of a statement to the database. */
export interface StatementRunner {
  /** Raw SQL. */
  readonly ask: Ask;
  /** Built queries. */
  readonly knex: Knex;
}

function knexRunner(knex: Knex): StatementRunner {
  return { ask: ({ sql, bindings }) => knex.raw(sql, bindings), knex };
}

/**
 * The rows that `insert ignore` of MySQL inserted. IGNORE also turns a value that does not fit into a warning: only
 * taken keys may have warned.
 */
function insertedOf(answer: unknown, table: string, count: number): number {
  const [{ affectedRows, warningStatus }] = answer as [
    { affectedRows: number; warningStatus: number },
  ];
  if (warningStatus !== count - affectedRows) throw new Error(`a row does not fit "${table}"`);
  return affectedRows;
}
