import type { Column, DialectIndex, Index, Table } from '../../../core/contracts/schema.ts';
import type { Dialect, Sql } from '../../../core/contracts/sql.ts';
import { quoted } from '../sql-text.ts';

/** Makes a table with its indexes unless it is there: repeatable, whatever a crash left behind. */
export async function createTable(sql: Sql, table: Table): Promise<void> {
  const collation = sql.dialect === 'mysql' ? await binaryCollation(sql) : '';
  for (const statement of createStatements(table, sql.dialect, collation)) {
    await sql.knex.raw(statement).options({ timeout: statementMs });
  }
}

/** Adds columns to a table, except those that it has: repeatable, whatever a crash left behind. */
export async function addColumns(
  sql: Sql,
  table: string,
  columns: Table['columns'],
): Promise<void> {
  const existing = await sql.rows<{ name: string }>(
    sql.dialect === 'mysql'
      ? `select column_name as name from information_schema.columns
         where table_schema = database() and table_name = ?`
      : 'select name from pragma_table_info(?)',
    [table],
  );
  const known = new Set(existing.map(({ name }) => name));
  for (const [name, column] of Object.entries(columns)) {
    if (known.has(name)) continue;
    const statement = `alter table ${quoted(table)} add column ${columnSql(name, column, sql.dialect)}`;
    await sql.knex.raw(statement).options({ timeout: statementMs });
  }
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
    ...(table.unique ?? []).map((index) => ({ kind: 'unique index', ...detailed(index) })),
    ...(table.indexes ?? []).map((index) => ({ kind: 'index', ...detailed(index) })),
  ].filter((key) => key.dialect === undefined || key.dialect === dialect);
  if (dialect === 'mysql') {
    for (const { kind, columns } of keys) {
      lines.push(`${kind} ${quoted(indexName(table, columns))} (${list(columns)})`);
    }
  }
  const end =
    dialect === 'mysql'
      ? `engine = InnoDB default character set utf8mb4 collate ${collation}`
      : 'strict';
  const create = `create table if not exists ${quoted(table.name)} (\n  ${lines.join(',\n  ')}\n) ${end}`;
  if (dialect === 'mysql') return [create];
  const indexes = keys.map(({ kind, columns, isSparse }) => {
    const rows = isSparse === true ? ` where ${quoted(columns.at(-1) ?? '')} is not null` : '';
    return `create ${kind} if not exists ${quoted(indexName(table, columns))} on ${quoted(table.name)} (${list(columns)})${rows}`;
  });
  return [create, ...indexes];
}

function detailed(index: Index): DialectIndex {
  return 'columns' in index ? index : { columns: index };
}

function columnSql(name: string, column: Column, dialect: Dialect): string {
  const parts = [quoted(name), typeSql(column, dialect), column.nullable ? 'null' : 'not null'];
  if (column.initial !== undefined) {
    const { initial } = column;
    parts.push(`default ${typeof initial === 'number' ? initial : `'${initial}'`}`);
  }
  // SQLite does not know lengths: said as a check, what does not fit fails on both alike.
  if (dialect === 'sqlite' && column.length !== undefined) {
    parts.push(`check (length(${quoted(name)}) <= ${column.length})`);
  }
  return parts.join(' ');
}

function typeSql({ type, length }: Column, dialect: Dialect): string {
  if (dialect === 'sqlite') return type;
  if (type === 'integer') return 'bigint';
  return length === undefined ? 'longtext' : `varchar(${length})`;
}

function indexName(table: Table, columns: readonly string[]): string {
  return `${table.name}_${columns.join('_')}`;
}

function list(columns: readonly string[]): string {
  return columns.map(quoted).join(', ');
}

async function binaryCollation(sql: Sql): Promise<string> {
  const [row] = await sql.rows<{ version: string }>('select version() as version');
  return row?.version.includes('MariaDB') ? 'utf8mb4_nopad_bin' : 'utf8mb4_0900_bin';
}
