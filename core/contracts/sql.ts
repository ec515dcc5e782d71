import type { Knex } from 'knex';
import { chunks } from '../chunks.ts';
import type { CommitTopic } from './storage.ts';

/** The two families of databases; MariaDB counts as `mysql`. */
export type Dialect = 'mysql' | 'sqlite';

/** A value of a column. Booleans are 0 and 1, moments are milliseconds, objects are JSON text. */
export type Value = string | number | null;

/** One row by column name. */
export type Row = Readonly<Record<string, Value>>;

/** How `upsert` treats a row whose key is taken. Columns in no list keep their value. */
export interface UpsertRule {
  /** The columns of the primary or unique key. */
  readonly key: readonly string[];
  /** Columns that take the new value. */
  readonly set?: readonly string[];
  /** Columns that the new value is added to. */
  readonly add?: readonly string[];
  /** Columns that take the new value where they are null. */
  readonly fill?: readonly string[];
}

/** How a raw statement is run. */
export interface StatementOptions {
  /** A recurring text, of which there are few: kept prepared where the server can. */
  readonly recurs?: boolean;
}

/**
 * The SQL executor of a table object: one transaction, or the connections that only read. It hides what MariaDB/MySQL
 * and SQLite write differently. Every method takes any number of rows, none included, and makes as few statements as
 * the engines allow.
 */
export interface Sql {
  readonly dialect: Dialect;
  /** The topics of this transaction, see `Storage.onCommit`. */
  readonly commitTopics: Set<CommitTopic>;
  /**
   * Builds queries, bound to the transaction or to the reading connections. `update` and `delete` answer
   * the number of rows that matched, on both dialects. It is for every statement that it can write and that is
   * not on the path of a message.
   */
  readonly knex: Knex;
  /** Clause that ends a raw query and locks the rows it reads; empty on SQLite, which has one writer at a time. */
  readonly locking: string;
  /** The same clause, which skips rows that others have locked instead of waiting for them. */
  readonly lockingFree: string;
  /**
   * The database's clock in a statement, milliseconds since the Unix epoch, at the start of the statement: unlike
   * `Unit.now` it may be a lock wait old.
   */
  readonly clock: string;
  /** The same clock when a row is read, after whatever the statement waited for. */
  readonly rowClock: string;
  /**
   * Inserts rows, which must all name the same columns.
   * @throws the driver's error when a key is taken: the whole batch is then run item by item
   */
  insert(table: string, rows: readonly Row[]): Promise<void>;
  /**
   * `insert` for rows that are lists of values in the order of the columns. Columns that are null in every row are not
   * named: their default must be null.
   */
  insertLists(
    table: string,
    columns: readonly string[],
    lists: readonly (readonly Value[])[],
  ): Promise<void>;
  /**
   * Inserts the rows whose primary and unique keys are free and leaves the others alone.
   * @returns how many were inserted
   * @throws Error when a value does not fit its column
   */
  insertIgnore(table: string, rows: readonly Row[]): Promise<number>;
  /** Inserts rows; where the key is taken, changes the existing row as the rule says. */
  upsert(table: string, rows: readonly Row[], rule: UpsertRule): Promise<void>;
  /**
   * Gives each row its own values in one statement: every row of `rows` names the key column and the
   * same further columns. Rows that do not exist are skipped.
   * @returns how many rows matched
   */
  updateEach(table: string, key: string, rows: readonly Row[]): Promise<number>;
  /** Replaces values of a column in one statement, in every row that has one of them. */
  replaceEach(table: string, column: string, values: ReadonlyMap<string, string>): Promise<void>;
  /**
   * Runs a raw query (`?` values) and answers its rows. The caller states their type. Text, here and in `run`, is for
   * the path of a message, for what is kept for COMMIT, and for what the builder cannot write.
   */
  rows<Result>(
    sql: string,
    bindings?: readonly Value[],
    options?: StatementOptions,
  ): Promise<Result[]>;
  /**
   * Runs a raw statement (`?` values) and answers how many rows matched (update, delete) or came in (insert); of one that
   * is kept for COMMIT 0.
   */
  run(sql: string, bindings?: readonly Value[], options?: StatementOptions): Promise<number>;
}

/** A table object: the SQL of one noun, on the executor that it is handed. */
export abstract class SqlTable {
  protected readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }
}

/** The placeholders of so many values: `?, ?, ?`. */
export function placeholders(count: number): string {
  return '?, '.repeat(count).slice(0, -2);
}

/**
 * Confines a list that is read newest first to what comes after a position. Both engines begin inside the index: the first
 * condition, which the second implies, lets them.
 * @param table the alias of the table with a dot, where the query has several
 */
export function olderThan(
  query: Knex.QueryBuilder,
  { createdAt, id }: { readonly createdAt: number; readonly id: string },
  table = '',
): void {
  query
    .where(`${table}created_at`, '<=', createdAt)
    .where((either) =>
      either
        .where(`${table}created_at`, '<', createdAt)
        .orWhere((same) =>
          same.where(`${table}created_at`, createdAt).where(`${table}id`, '<', id),
        ),
    );
}

/** The most conditions that are tied by `or`: SQLite bounds the depth of an expression. */
export const alternatives = 200;

/** A part of a `where`, with its values. */
export interface Condition {
  readonly sql: string;
  readonly bindings: readonly Value[];
}

/**
 * Rows that fulfil any of these conditions, by as few statements as the engines allow. The caller states their type.
 * @param select the query up to its `where`
 * @param recurring the number of values with which the text is always the same, and worth preparing (`StatementOptions`);
 *   absent: none
 */
export async function rowsOfAny<Result>(
  db: Sql,
  select: string,
  conditions: readonly Condition[],
  recurring?: number,
): Promise<Result[]> {
  const found: Result[] = [];
  for (const some of chunks(conditions, alternatives)) {
    const bindings = some.flatMap((condition) => condition.bindings);
    const sql = `${select} where ${some.map((condition) => condition.sql).join(' or ')}`;
    found.push(
      ...(await db.rows<Result>(sql, bindings, { recurs: bindings.length === recurring })),
    );
  }
  return found;
}

/**
 * Deletes a bounded number of rows by their keys, which are read without a lock: a range would also wait for rows that
 * others insert. Answers how many.
 * @param which narrows and orders them
 */
export async function deleteSome(
  { knex }: Sql,
  { table, key, limit }: { readonly table: string; readonly key: string; readonly limit: number },
  which: (rows: Knex.QueryBuilder) => Knex.QueryBuilder,
): Promise<number> {
  const keys: readonly string[] = await which(knex(table)).limit(limit).pluck(key);
  return keys.length === 0 ? 0 : knex(table).whereIn(key, keys).delete();
}

/**
 * Whether a column has the id of a message whose contact is being forgotten: 1 or 0. Erasures of contacts are rare and in
 * one short table: without one no message is read, and neither for those of openers and tenants.
 */
export function ofForgotten(column: string): string {
  return `case when exists (
    select 1 from erasures where (id >= 'con' and id < 'coo') or (id >= 'fgt' and id < 'fgu')
  ) then exists (
    select 1 from messages m join contacts c on c.id = m.contact_id
    where m.id = ${column} and c.private = 1
  ) else 0 end`;
}
