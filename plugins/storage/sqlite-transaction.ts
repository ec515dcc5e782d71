import type { Knex } from 'knex';
import type Libsql from 'libsql';
import { bindable } from './bindings.ts';
import { builderOn } from './builder.ts';
import type { Transaction } from './executor.ts';
import { fitForLog } from './faults.ts';
import { whenFree } from './sqlite-file.ts';
import { answerQuery, runStatement } from './sqlite-statements.ts';

/** Begins a transaction, which has the write lock from its start. */
export async function beginSqlite(write: Knex): Promise<Transaction> {
  const { client } = write;
  const connection: Libsql.Database = await client.acquireConnection();
  const run = (sql: string) => void runStatement(connection, sql, []);
  try {
    // A COMMIT that failed (a full disk) leaves its transaction open.
    if (connection.inTransaction) run('ROLLBACK');
    await whenFree(() => run('BEGIN IMMEDIATE'));
  } catch (error) {
    client.releaseConnection(connection);
    throw error;
  }
  let over = false;
  const end = async (ending: () => void) => {
    over = true;
    try {
      ending();
    } catch (error) {
      throw fitForLog(error);
    } finally {
      client.releaseConnection(connection);
    }
  };
  return {
    async ask({ sql, bindings }) {
      if (over) throw new Error('the transaction is over');
      return runStatement(connection, sql, bindings);
    },
    builder: (ask) =>
      builderOn(write, async (query) => {
        const bindings = bindable(query.bindings ?? []);
        // The same answers as those of `ask`.
        const found = await ask({ sql: query.sql, bindings });
        answerQuery(query, found as unknown[] | Libsql.RunResult);
      }),
    commit: (last) =>
      end(() => {
        try {
          for (const { sql, bindings } of last) runStatement(connection, sql, bindings);
          run('COMMIT');
        } catch (error) {
          if (connection.inTransaction) run('ROLLBACK');
          throw error;
        }
      }),
    async rollBack() {
      if (!over) await end(() => run('ROLLBACK')).catch(() => undefined);
    },
  };
}

/** Gives pages that are free back to the file system, at most so many. Nothing else may be under way on the connection. */
export async function shrinkSqlite(write: Knex, pages: number): Promise<void> {
  // A query of knex would free one page and stay open.
  await onWriter(write, (connection) => {
    connection.exec(`PRAGMA incremental_vacuum(${pages})`);
    return [];
  });
}

/**
 * Copies the log into the file, which is then shorter on disk, and empties the log. Nothing else may be under way on the
 * connection.
 * @returns false when another process reads what is in the log
 */
export async function emptySqliteLog(write: Knex): Promise<boolean> {
  const [row] = await onWriter(write, (connection) =>
    connection.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all(),
  );
  // As SQLite documents the pragma.
  return (row as { readonly busy: number } | undefined)?.busy === 0;
}

async function onWriter<Row>(
  write: Knex,
  use: (connection: Libsql.Database) => readonly Row[],
): Promise<readonly Row[]> {
  const { client } = write;
  const connection: Libsql.Database = await client.acquireConnection();
  try {
    return connection.inTransaction ? [] : use(connection);
  } finally {
    client.releaseConnection(connection);
  }
}
