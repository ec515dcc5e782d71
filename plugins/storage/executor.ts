import type { Knex } from 'knex';
import type { Mark } from '../../core/contracts/storage.ts';
import { bindable } from './bindings.ts';
import type { Statement } from './pipeline.ts';

/** The two families of databases; MariaDB counts as `mysql`. */
export type Dialect = 'mysql' | 'sqlite';

/** What a column can hold. Booleans are 0 and 1, moments are milliseconds, objects are JSON text. */
export type Value = string | number | null;

/** One row by column name. */
export type Row = Readonly<Record<string, Value>>;

/** How `upsert` treats a row whose key is taken. Columns in neither list keep what they hold. */
export interface UpsertRule {
  /** The columns of the primary or unique key. */
  readonly key: readonly string[];
  /** Columns that take the new value. */
  readonly set?: readonly string[];
  /** Columns that the new value is added to. */
  readonly add?: readonly string[];
  /** Columns that take the new value where they hold none. */
  readonly fill?: readonly string[];
}

/** Bindings of one statement: well below SQLite's 32,766. */
const maxBindings = 16_000;

/** Insertions of so few rows recur in the same words; those of more differ with their number. */
const fewRows = 2;

/**
 * What a table object runs its SQL on: one transaction, or the connections that only read. It
 * carries the few things that MariaDB/MySQL and SQLite spell differently. Every method takes any
 * number of rows, none included, and makes as few statements as the engines allow.
 */
export class Executor {
  readonly dialect: Dialect;
  /** What the transaction brings that others want to know once it is durable, see `Storage.onCommit`. */
  readonly marks: Set<Mark>;
  readonly #way: Way;
  /** Where statements are kept instead of being run; null: they are run. */
  readonly #kept: Statement[] | null;

  constructor(
    way: Knex | Way,
    dialect: Dialect,
    marks = new Set<Mark>(),
    kept: Statement[] | null = null,
  ) {
    this.#way = typeof way === 'function' ? through(way) : way;
    this.dialect = dialect;
    this.marks = marks;
    this.#kept = kept;
  }

  /** One of the same transaction that keeps its statements in a list. It can write only, and tells no counts. */
  keeping(kept: Statement[]): Executor {
    return new Executor(this.#way, this.dialect, this.marks, kept);
  }

  /**
   * Builds queries, bound to the transaction or to the reading connections. `update` and `delete` answer
   * the number of rows that matched, on both dialects.
   */
  get knex(): Knex {
    if (this.#kept !== null) throw new Error('what travels with COMMIT is given to `run`');
    return this.#way.knex;
  }

  /** What a raw query ends with that locks what it reads; SQLite has one writer at a time and needs no lock. */
  get locking(): string {
    return this.dialect === 'mysql' ? 'for update' : '';
  }

  /** The same, but what others have locked is left out instead of being waited for. */
  get lockingFree(): string {
    return this.dialect === 'mysql' ? 'for update skip locked' : '';
  }

  /**
   * The database's clock in a statement, milliseconds since the Unix epoch, as it stood when the statement began: unlike
   * `Unit.now` it may be a lock wait old.
   */
  get clock(): string {
    return this.dialect === 'mysql'
      ? 'cast(unix_timestamp(now(3)) * 1000 as signed)'
      : "cast(unixepoch('subsec') * 1000 as integer)";
  }

  /**
   * Inserts rows, which must all name the same columns.
   * @throws the driver's error when a key is taken: the whole batch is then run item by item
   */
  async insert(table: string, rows: readonly Row[]): Promise<void> {
    for (const part of parts(rows)) await this.#insertPart('insert into', table, part, '');
  }

  /**
   * `insert` for rows that are lists of values in the order of the columns. Columns that are null in every row are not
   * named: their default must be null.
   */
  async insertLists(
    table: string,
    columns: readonly string[],
    lists: readonly (readonly Value[])[],
  ): Promise<void> {
    const places = columns.flatMap((_, n) => (lists.some((list) => list[n] !== null) ? [n] : []));
    const size = Math.floor(maxBindings / places.length);
    for (let start = 0; start < lists.length; start += size) {
      const part = lists.slice(start, start + size);
      const bindings: Value[] = [];
      for (const list of part) for (const place of places) bindings.push(list[place] ?? null);
      const names = places.map((place) => columns[place] ?? '');
      await this.#insertValues('insert into', table, names, part.length, bindings, '');
    }
  }

  /**
   * Inserts the rows whose primary and unique keys are free and leaves the others alone.
   * @returns how many were inserted
   * @throws Error when a value does not fit its column
   */
  async insertIgnore(table: string, rows: readonly Row[]): Promise<number> {
    let inserted = 0;
    if (this.#kept !== null) throw new Error('COMMIT does not tell what was ignored');
    for (const part of parts(rows)) {
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

  /** Inserts rows; where the key is taken, changes the existing row as the rule says. */
  async upsert(table: string, rows: readonly Row[], rule: UpsertRule): Promise<void> {
    const isMysql = this.dialect === 'mysql';
    const held = (column: string): string => `${quoted(table)}.${quoted(column)}`;
    const given = (column: string): string =>
      isMysql ? `values(${quoted(column)})` : `excluded.${quoted(column)}`;
    const changes = [
      ...(rule.set ?? []).map((column) => [column, given(column)]),
      ...(rule.add ?? []).map((column) => [column, `${held(column)} + ${given(column)}`]),
      ...(rule.fill ?? []).map((column) => [column, `coalesce(${held(column)}, ${given(column)})`]),
    ].map(([column = '', value]) => `${quoted(column)} = ${value}`);
    const conflict = isMysql
      ? 'on duplicate key update'
      : `on conflict (${rule.key.map(quoted).join(', ')}) do update set`;
    const end = `${conflict} ${changes.join(', ')}`;
    for (const part of parts(rows)) {
      await this.#insertPart('insert into', table, part, end);
    }
  }

  /**
   * Gives each row its own values in one statement: every row of `rows` names the key column and the
   * same further columns. Rows that do not exist are skipped.
   * @returns how many rows matched
   */
  async updateEach(table: string, key: string, rows: readonly Row[]): Promise<number> {
    let matched = 0;
    for (const part of parts(rows, 2)) {
      const columns = Object.keys(part[0] ?? {}).filter((column) => column !== key);
      const bindings: Value[] = [];
      const changes = columns.map((column) => {
        const first = part[0]?.[column] ?? null;
        if (part.every((row) => (row[column] ?? null) === first)) {
          bindings.push(first);
          return `${quoted(column)} = ?`;
        }
        for (const row of part) bindings.push(row[key] ?? null, row[column] ?? null);
        return `${quoted(column)} = case ${quoted(key)} ${'when ? then ? '.repeat(part.length)}end`;
      });
      for (const row of part) bindings.push(row[key] ?? null);
      matched += await this.run(
        `update ${quoted(table)} set ${changes.join(', ')}
         where ${quoted(key)} in (${holes(part.length)})`,
        bindings,
        { recurs: part.length === 1 },
      );
    }
    return matched;
  }

  /** Puts other values in the place of those that a column holds, in one statement, in every row that holds one of them. */
  async replaceEach(
    table: string,
    column: string,
    values: ReadonlyMap<string, string>,
  ): Promise<void> {
    const all = [...values];
    const size = Math.floor(maxBindings / 3);
    for (let start = 0; start < all.length; start += size) {
      const part = all.slice(start, start + size);
      const name = quoted(column);
      await this.run(
        `update ${quoted(table)} set ${name} = case ${name} ${'when ? then ? '.repeat(part.length)}end
         where ${name} in (${holes(part.length)})`,
        [...part.flat(), ...part.map(([held]) => held)],
      );
    }
  }

  /** Runs a raw query (`?` values) and answers its rows. The caller states their type. */
  async rows<Result>(
    sql: string,
    bindings: readonly Value[] = [],
    { recurs }: Pick<Statement, 'recurs'> = {},
  ): Promise<Result[]> {
    if (this.#kept !== null) throw new Error('COMMIT brings no rows');
    const answer = await this.#way.ask({ sql, bindings: bindable(bindings), recurs });
    // mysql2 answers [rows, fields], libsql the rows; what they hold is what the SQL selects.
    return (this.dialect === 'mysql' ? (answer as [Result[]])[0] : answer) as Result[];
  }

  /**
   * Runs a raw statement (`?` values) and answers how many rows matched (update, delete) or came in (insert); of one that
   * is kept for COMMIT 0.
   */
  async run(
    sql: string,
    bindings: readonly Value[] = [],
    { recurs }: Pick<Statement, 'recurs'> = {},
  ): Promise<number> {
    const statement = { sql, bindings: bindable(bindings), recurs };
    if (this.#kept !== null) {
      this.#kept.push(statement);
      return 0;
    }
    const answer = await this.#way.ask(statement);
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
    const values = `(${holes(columns.length)}), `.repeat(count).slice(0, -2);
    const sql = `${start} ${quoted(table)} (${columns.map(quoted).join(', ')}) values ${values} ${end}`;
    const statement = { sql, bindings: bindable(bindings), recurs: count <= fewRows };
    if (this.#kept === null) return await this.#way.ask(statement);
    this.#kept.push(statement);
    return undefined;
  }
}

/** Runs a statement: answers what knex's `raw` does. */
export type Ask = (statement: Statement) => Promise<unknown>;

/** How statements get to the database. */
export interface Way {
  /** Those that are text already. */
  readonly ask: Ask;
  /** Those that are built. */
  readonly knex: Knex;
}

function through(knex: Knex): Way {
  return { ask: ({ sql, bindings }) => knex.raw(sql, bindings), knex };
}

/** A name of ours, as both dialects quote it. */
function quoted(name: string): string {
  return `\`${name}\``;
}

/** So many placeholders. */
export function holes(count: number): string {
  return '?, '.repeat(count).slice(0, -2);
}

/**
 * What MySQL's `insert ignore` inserted. IGNORE also turns a value that does not fit into a warning: only
 * taken keys may have warned.
 */
function insertedOf(answer: unknown, table: string, count: number): number {
  const [{ affectedRows, warningStatus }] = answer as [
    { affectedRows: number; warningStatus: number },
  ];
  if (warningStatus !== count - affectedRows) throw new Error(`a row does not fit "${table}"`);
  return affectedRows;
}

function parts(rows: readonly Row[], uses = 1): Row[][] {
  const first = rows[0];
  if (first === undefined) return [];
  const columns = Object.keys(first);
  for (const row of rows) {
    let known = 0;
    for (const name in row) if (name in first) known += 1;
    if (known !== columns.length || Object.keys(row).length !== known) {
      throw new Error('rows of one statement must all name the same columns');
    }
  }
  const size = Math.max(1, Math.floor(maxBindings / (columns.length * uses)));
  const result: Row[][] = [];
  for (let start = 0; start < rows.length; start += size) {
    result.push(rows.slice(start, start + size));
  }
  return result;
}
