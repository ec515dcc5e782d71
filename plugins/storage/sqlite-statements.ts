import type Libsql from 'libsql';
import { LRUCache } from 'lru-cache';
import type { Value } from '../../core/contracts/sql.ts';
import type { Bound } from './bindings.ts';
import type { Query } from './builder.ts';

/** A prepared statement, and the names of what it brings; null: no rows. */
interface PreparedStatement {
  readonly statement: Libsql.Statement;
  readonly columns: readonly string[] | null;
}

/** The prepared statements of one connection, by their text. */
type Prepared = LRUCache<string, PreparedStatement>;

const prepared = new WeakMap<Libsql.Database, Prepared>();

/** Of one connection. SQLite needs up to 40 bytes for each character of an insert with many rows. */
const mostCharacters = 500_000;

/**
 * Runs a statement, which is prepared once and kept for the next time.
 * @param values checked by `bindable`
 * @returns its rows, or what it changed when it brings none
 */
export function runStatement(
  connection: Libsql.Database,
  sql: string,
  values: readonly Bound[],
): unknown[] | Libsql.RunResult {
  const { statement, columns } = statementOf(connection, sql);
  // libsql binds every number as a REAL; as a bigint it stays an INTEGER.
  const bound = values.map((value) =>
    Number.isSafeInteger(value) ? BigInt(value as number) : value,
  );
  if (columns === null) return statement.run(bound);
  // In raw mode each row is a list of its values.
  const rows = statement.all(bound) as Value[][];
  // SQLite prepares a `select *` anew when its table has got a column.
  const isCurrent = rows.length === 0 || rows[0]?.length === columns.length;
  const names = isCurrent ? columns : namesOf(statement);
  return rows.map((row) => named(names, row));
}

function namesOf(statement: Libsql.Statement): readonly string[] {
  return statement.columns().map(({ name }) => name);
}

/** A row by its names: libsql takes twice as long for a wide one. */
function named(names: readonly string[], values: readonly Value[]): Record<string, Value> {
  const row: Record<string, Value> = {};
  names.forEach((name, index) => {
    row[name] = values[index] ?? null;
  });
  return row;
}

function statementOf(connection: Libsql.Database, sql: string): PreparedStatement {
  const statements = prepared.get(connection) ?? statementCache();
  prepared.set(connection, statements);
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const made = prepare(connection, sql);
  statements.set(sql, made);
  return made;
}

function prepare(connection: Libsql.Database, sql: string): PreparedStatement {
  const statement = connection.prepare(sql);
  if (!statement.reader) return { statement, columns: null };
  statement.raw(true);
  return { statement, columns: namesOf(statement) };
}

function statementCache(): Prepared {
  return new LRUCache({ maxSize: mostCharacters, sizeCalculation: (_, sql) => sql.length });
}

/** Completes a query of knex as its dialect expects it. */
export function answerQuery(query: Query, found: unknown[] | Libsql.RunResult): void {
  query.response = found;
  if (Array.isArray(found)) return;
  query.context = { lastID: found.lastInsertRowid, changes: found.changes };
}
