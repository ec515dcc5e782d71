import type { Knex } from 'knex';
import makeKnex from 'knex/lib/knex-builder/make-knex.js';

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
