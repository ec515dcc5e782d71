/**
 * The parts of knex that its own types leave out. They belong to the version in the lock file: an
 * update of knex is checked by test/plugins/storage.
 */
declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import type { Knex } from 'knex';

  export default class Client_BetterSQLite3 extends Knex.Client {
    _driver(): unknown;
    destroyRawConnection(connection: unknown): Promise<void>;
  }
}

declare module 'knex/lib/knex-builder/make-knex.js' {
  import type { Knex } from 'knex';

  export default function makeKnex(client: unknown): Knex;
}

declare module 'knex/lib/dialects/mysql2/index.js' {
  import type { Knex } from 'knex';

  export default class Client_MySQL2 extends Knex.Client {
    _query(connection: unknown, query: unknown): Promise<unknown>;
  }
}
