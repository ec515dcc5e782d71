import type { Knex } from 'knex';
import makeKnex from 'knex/lib/knex-builder/make-knex.js';
import type { Connections } from './connection.ts';
import type { Ask } from './executor.ts';
import { beginMysql } from './mysql.ts';
import type { Statement } from './pipeline.ts';
import { beginSqlite } from './sqlite.ts';

/** One open transaction on a connection of its own, which goes back to the pool when it ends. */
export interface Transaction {
  /** Runs a statement; answers what the driver does. Rejects once the transaction is being ended. */
  readonly ask: Ask;
  /** knex's query builder on what `ask` is. */
  builder(ask: Ask): Knex;
  /**
   * Runs the last statements and COMMIT.
   * @throws the error of the first that failed: rolled back then, unless `leavesCommitOpen`
   */
  commit(last: readonly Statement[]): Promise<void>;
  /** Rolls back; never rejects, since a lost connection has been rolled back by the server. */
  rollBack(): Promise<void>;
}

/** Begins a transaction. The caller ends it with `commit` or `rollBack`. */
export function begin({ dialect, write }: Connections): Promise<Transaction> {
  return dialect === 'mysql' ? beginMysql(write) : beginSqlite(write);
}

/** A query as knex hands it to its dialect. */
export interface Query {
  readonly sql: string;
  readonly bindings?: readonly unknown[];
  readonly options?: { readonly timeout?: number };
  response?: unknown;
  context?: unknown;
}

/**
 * knex's query builder, with its queries run by a function. Building it costs as much as a short statement, which knex's
 * own transactions pay even where no query is built.
 * @param run puts the answer into the query
 */
export function builderOn(write: Knex, run: (query: Query) => Promise<void>): Knex {
  const client: object = Object.assign(Object.create(write.client), {
    transacting: true,
    // Its own listeners: those of a transaction end with it.
    _events: undefined,
    _eventsCount: 0,
    acquireConnection: async () => ({}),
    releaseConnection: async () => undefined,
    _query: async (_: unknown, query: Query) => {
      await run(query);
      return query;
    },
  });
  return makeKnex(client);
}
