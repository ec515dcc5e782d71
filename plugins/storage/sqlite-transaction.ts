import type { Knex } from 'knex';
import type Libsql from 'libsql';
import { bindable } from './bindings.ts';
import { builderOn } from './builder.ts';
import { fitForLog } from './faults.ts';
import { whenFree } from './sqlite-file.ts';
import { answerQuery, runStatement } from './sqlite-statements.ts';
import type { Transaction } from './transaction.ts';

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

/**
 * Gives pages that are free back to the file system. Nothing else may be under way on the connection.
 * @param pages at most so many; null copies the log into the file, which is then shorter on disk, and empties the log
 */
export async function shrinkSqlite(write: Knex, pages: number | null): Promise<void> {
  const { client } = write;
  const connection: Libsql.Database = await client.acquireConnection();
  try {
    if (connection.inTransaction) return;
    // A query of knex would free one page and stay open.
    connection.exec(
      pages === null ? 'PRAGMA wal_checkpoint(TRUNCATE)' : `PRAGMA incremental_vacuum(${pages})`,
    );
  } finally {
    client.releaseConnection(connection);
  }
}
