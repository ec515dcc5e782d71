import {
  type Dialect,
  placeholders,
  type Row,
  type UpsertRule,
  type Value,
} from '../../core/contracts/sql.ts';

/** Bindings of one statement: well below SQLite's 32,766. */
const maxBindings = 16_000;

/** Characters of one statement or packet: in any script below the 16 MB that a server takes by default. */
const maxCharacters = 2_000_000;

/**
 * MariaDB's and MySQL's clock in SQL: milliseconds since the epoch when the row is read, not when the statement began.
 * The session is at UTC.
 */
export const mysqlNow = 'cast(unix_timestamp(sysdate(3)) * 1000 as signed)';

/** A name of ours, as both dialects quote it. */
export function quoted(name: string): string {
  return `\`${name}\``;
}

/** The end of an insert that changes the rows whose key is taken. Pure. */
export function upsertEnd(dialect: Dialect, table: string, rule: UpsertRule): string {
  const isMysql = dialect === 'mysql';
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
  return `${conflict} ${changes.join(', ')}`;
}

/** One statement that gives each row its own values, found by its key. Pure. */
export function updateOf(
  table: string,
  key: string,
  rows: readonly Row[],
): { readonly sql: string; readonly bindings: readonly Value[] } {
  const columns = Object.keys(rows[0] ?? {}).filter((column) => column !== key);
  const bindings: Value[] = [];
  const changes = columns.map((column) => {
    const first = rows[0]?.[column] ?? null;
    if (rows.every((row) => (row[column] ?? null) === first)) {
      bindings.push(first);
      return `${quoted(column)} = ?`;
    }
    for (const row of rows) bindings.push(row[key] ?? null, row[column] ?? null);
    return `${quoted(column)} = case ${quoted(key)} ${'when ? then ? '.repeat(rows.length)}end`;
  });
  for (const row of rows) bindings.push(row[key] ?? null);
  const sql = `update ${quoted(table)} set ${changes.join(', ')}
         where ${quoted(key)} in (${placeholders(rows.length)})`;
  return { sql, bindings };
}

/**
 * Rows in portions of one statement each. Pure.
 * @param uses how often a statement binds each value
 * @throws Error when they do not all name the same columns
 */
export function rowPortions(rows: readonly Row[], uses = 1): Row[][] {
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
  return portions(rows, columns.length * uses, (row) => Object.values(row));
}

/**
 * Items in portions of one statement each. Pure.
 * @param bindings how many of them each item takes
 * @param valuesOf what is written of an item
 */
export function portions<Item>(
  items: readonly Item[],
  bindings: number,
  valuesOf: (item: Item) => readonly Value[],
): Item[][] {
  const most = Math.max(1, Math.floor(maxBindings / Math.max(1, bindings)));
  return dividedBySize(items, most, (item) => sizeOf(valuesOf(item)));
}

/**
 * Items in portions of at most so many, and of no more characters than a server takes, unless one by itself is larger.
 * Pure.
 */
export function dividedBySize<Item>(
  items: readonly Item[],
  most: number,
  sizeOfItem: (item: Item) => number,
): Item[][] {
  const found: Item[][] = [];
  let last: Item[] = [];
  let size = 0;
  for (const item of items) {
    const more = sizeOfItem(item);
    size += more;
    if (last.length === 0 || last.length === most || size > maxCharacters) {
      last = [];
      found.push(last);
      size = more;
    }
    last.push(item);
  }
  return found;
}

/** About how many characters values take. Pure. */
export function sizeOf(values: readonly unknown[]): number {
  let size = 0;
  for (const value of values) size += typeof value === 'string' ? value.length : 8;
  return size;
}
