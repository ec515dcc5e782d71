import type { Dialect, Executor } from '../executor.ts';

/** One column of a table. Not null unless said otherwise. */
export interface Column {
  readonly type: 'text' | 'integer';
  /** The most characters; absent for a text of any length. */
  readonly length?: number;
  readonly nullable?: boolean;
  readonly initial?: number | string;
}

/** One table, the same on both dialects. */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, Column>>;
  readonly primary: readonly string[];
  readonly unique?: readonly (readonly string[])[];
  readonly indexes?: readonly (readonly string[])[];
}

/** A text of at most so many characters, which can be indexed. */
export const words = (length: number): Column => ({ type: 'text', length });
/** A text of any length, which cannot. */
export const text: Column = { type: 'text' };
/** An id with its prefix. */
export const id: Column = words(40);
/** A whole number, or a moment in milliseconds since the Unix epoch. */
export const integer: Column = { type: 'integer' };
/** A whole number that starts at 0; also a flag, 0 or 1. */
export const zero: Column = { type: 'integer', initial: 0 };
/** The same column, which may be empty and is so at first. */
export const nullable = (column: Column): Column => ({ ...column, nullable: true });

/** Makes a table with its indexes unless it is there: repeatable, whatever a crash left behind. */
export async function createTable(executor: Executor, table: Table): Promise<void> {
  const collation = executor.dialect === 'mysql' ? await binaryCollation(executor) : '';
  for (const statement of createStatements(table, executor.dialect, collation)) {
    await executor.knex.raw(statement).options({ timeout: statementMs });
  }
}

/** Adds an index to a table that is there, unless it has it: repeatable, and beside processes at work. */
export async function createIndex(
  executor: Executor,
  table: string,
  columns: readonly string[],
): Promise<void> {
  const name = indexName({ name: table }, columns);
  // MySQL knows no `if not exists` here.
  if (executor.dialect === 'mysql' && (await hasIndex(executor, table, name))) return;
  const guard = executor.dialect === 'sqlite' ? 'if not exists ' : '';
  await executor.knex
    .raw(`create index ${guard}${quote(name)} on ${quote(table)} (${list(columns)})`)
    .options({ timeout: statementMs });
}

/** Takes an index away, unless it is gone: repeatable, and beside processes at work. */
export async function dropIndex(
  executor: Executor,
  table: string,
  columns: readonly string[],
): Promise<void> {
  const name = indexName({ name: table }, columns);
  if (executor.dialect === 'mysql' && !(await hasIndex(executor, table, name))) return;
  const statement =
    executor.dialect === 'mysql'
      ? `drop index ${quote(name)} on ${quote(table)}`
      : `drop index if exists ${quote(name)}`;
  await executor.knex.raw(statement).options({ timeout: statementMs });
}

/**
 * Makes an index anew without the rows that are null in its last column, on SQLite; MariaDB and MySQL know no such
 * index. Nobody may look for those rows by it. Repeatable, as the whole migration is one transaction there.
 */
export async function leaveOutNulls(
  executor: Executor,
  table: string,
  kind: 'index' | 'unique index',
  columns: readonly string[],
): Promise<void> {
  if (executor.dialect === 'mysql') return;
  const last = columns.at(-1) ?? '';
  await dropIndex(executor, table, columns);
  await executor.knex.raw(
    `create ${kind} ${quote(indexName({ name: table }, columns))} on ${quote(table)} (${list(columns)})
     where ${quote(last)} is not null`,
  );
}

/** Adds a column to a table that is there, unless it has it: repeatable, and beside processes at work. */
export async function addColumn(
  executor: Executor,
  table: string,
  name: string,
  column: Column,
): Promise<void> {
  // MySQL and SQLite know no `if not exists` here.
  if (await executor.knex.schema.hasColumn(table, name)) return;
  await executor.knex
    .raw(`alter table ${quote(table)} add column ${columnSql(name, column, executor.dialect)}`)
    .options({ timeout: statementMs });
}

/** A change of a large table takes as long as it takes; without any limit a dead server would hold the start. */
const statementMs = 3_600_000;

/**
 * The statements that make a table. Texts compare by their bytes and with their trailing spaces, as on
 * SQLite. That goes for ids, too: as ASCII columns they would refuse to be compared with other text.
 */
export function createStatements(table: Table, dialect: Dialect, collation: string): string[] {
  const lines = Object.entries(table.columns).map(([name, column]) =>
    columnSql(name, column, dialect),
  );
  lines.push(`primary key (${list(table.primary)})`);
  const keys = [
    ...(table.unique ?? []).map((columns) => ({ kind: 'unique index', columns })),
    ...(table.indexes ?? []).map((columns) => ({ kind: 'index', columns })),
  ];
  if (dialect === 'mysql') {
    for (const { kind, columns } of keys) {
      lines.push(`${kind} ${quote(indexName(table, columns))} (${list(columns)})`);
    }
  }
  const end =
    dialect === 'mysql'
      ? `engine = InnoDB default character set utf8mb4 collate ${collation}`
      : 'strict';
  const create = `create table if not exists ${quote(table.name)} (\n  ${lines.join(',\n  ')}\n) ${end}`;
  if (dialect === 'mysql') return [create];
  const indexes = keys.map(
    ({ kind, columns }) =>
      `create ${kind} if not exists ${quote(indexName(table, columns))} on ${quote(table.name)} (${list(columns)})`,
  );
  return [create, ...indexes];
}

function columnSql(name: string, column: Column, dialect: Dialect): string {
  const parts = [quote(name), typeSql(column, dialect), column.nullable ? 'null' : 'not null'];
  if (column.initial !== undefined) {
    const { initial } = column;
    parts.push(`default ${typeof initial === 'number' ? initial : `'${initial}'`}`);
  }
  // SQLite does not know lengths: said as a check, what does not fit fails on both alike.
  if (dialect === 'sqlite' && column.length !== undefined) {
    parts.push(`check (length(${quote(name)}) <= ${column.length})`);
  }
  return parts.join(' ');
}

function typeSql({ type, length }: Column, dialect: Dialect): string {
  if (dialect === 'sqlite') return type;
  if (type === 'integer') return 'bigint';
  return length === undefined ? 'longtext' : `varchar(${length})`;
}

function indexName(table: Pick<Table, 'name'>, columns: readonly string[]): string {
  return `${table.name}_${columns.join('_')}`;
}

function list(columns: readonly string[]): string {
  return columns.map(quote).join(', ');
}

function quote(name: string): string {
  return `\`${name}\``;
}

async function hasIndex(executor: Executor, table: string, name: string): Promise<boolean> {
  const rows = await executor.rows(
    `select 1 from information_schema.statistics
     where table_schema = database() and table_name = ? and index_name = ?`,
    [table, name],
  );
  return rows.length > 0;
}

async function binaryCollation(executor: Executor): Promise<string> {
  const [row] = await executor.rows<{ version: string }>('select version() as version');
  return row?.version.includes('MariaDB') ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}
