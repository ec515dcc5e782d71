/**
 * The parts of knex that its own types leave out. They belong to the version in the lock file: an
 * update of knex is checked by test/plugins/storage.
 */
declare module 'knex/lib/dialects/better-sqlite3/index.js' {
  import type { Knex } from 'knex';

  export default class Client_BetterSQLite3 extends Knex.Client {
    _driver(): unknown;
  }
}

declare module 'knex/lib/dialects/sqlite3/execution/sqlite-transaction.js' {
  export default class Transaction_Sqlite {
    constructor(client: unknown, ...parts: readonly unknown[]);
    begin(connection: unknown): Promise<unknown>;
  }
}

declare module 'knex/lib/dialects/mysql2/index.js' {
  import type { Knex } from 'knex';

  export default class Client_MySQL2 extends Knex.Client {
    _query(connection: unknown, query: unknown): Promise<unknown>;
  }
}

declare module 'knex/lib/dialects/mysql2/transaction.js' {
  export default class Transaction_MySQL2 {
    constructor(client: unknown, ...parts: readonly unknown[]);
    _completed: boolean;
    _resolver(): void;
    _rejecter(error: unknown): void;
    begin(connection: unknown): Promise<unknown>;
    commit(connection: unknown): Promise<unknown>;
    rollback(connection: unknown): Promise<unknown>;
  }
}
