import type Libsql from 'libsql';
import { LRUCache } from 'lru-cache';
import type { Bound } from './bindings.ts';
import type { Query } from './builder.ts';

/** The prepared statements of one connection, by their text. */
type Prepared = LRUCache<string, Libsql.Statement>;

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
  const statement = statementOf(connection, sql);
  // libsql binds every number as a REAL; as a bigint it stays an INTEGER.
  const bound = values.map((value) =>
    Number.isSafeInteger(value) ? BigInt(value as number) : value,
  );
  return statement.reader ? statement.all(bound) : statement.run(bound);
}

function statementOf(connection: Libsql.Database, sql: string): Libsql.Statement {
  const statements = prepared.get(connection) ?? statementCache();
  prepared.set(connection, statements);
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const statement = connection.prepare(sql);
  statements.set(sql, statement);
  return statement;
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
