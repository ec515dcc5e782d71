import { contents } from '../../../config/tables.ts';
import { integer, nullable, text, words, zero } from '../../../core/contracts/schema.ts';
import type { Sql } from '../../../core/contracts/sql.ts';
import type { Tables, Unit } from '../../../core/contracts/storage.ts';
import { createTable } from '../../../plugins/storage/migrations/schema.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { migratedStorage } from '../../fixtures/process.ts';
import type { Teardown } from '../../harness/processes.ts';

/** The SQL of a table that only these tests have. */
export class ScratchTable {
  readonly db: Sql;

  constructor(db: Sql) {
    this.db = db;
  }

  /** Adds one to each of these counters, reading first and writing afterwards, as a decision does. */
  async increment(ids: readonly string[]): Promise<number[]> {
    const results: number[] = [];
    for (const name of ids) {
      const value = ((await this.value(name)) ?? 0) + 1;
      await this.set(name, value);
      results.push(value);
    }
    return results;
  }

  async set(name: string, value: number): Promise<void> {
    await this.db.upsert('scratch', [{ id: name, value }], { key: ['id'], set: ['value'] });
  }

  async value(name: string): Promise<number | undefined> {
    const [row] = await this.db.knex('scratch').where('id', name).select('value');
    return row?.value;
  }

  /** Fails on MariaDB as a read does that finds no room for a temporary table. */
  async tooLarge(): Promise<void> {
    await this.db.rows("signal sqlstate 'HY000' set mysql_errno = 1114");
  }

  async names(): Promise<string[]> {
    return await this.db.knex('scratch').orderBy('id').pluck('id');
  }
}

type WithScratch<T> = T & { readonly scratch: ScratchTable };

/** The test's own table in a unit, or in `storage.read`, of a storage that `openScratch` made. */
export function scratchOf(tables: Unit | Tables): ScratchTable {
  // `openScratch` hands out nothing else.
  return (tables as WithScratch<Tables>).scratch;
}

/** Opens a migrated storage that has the test's own table, one more storage at every call. */
export async function openScratch(url: string, t: Teardown): Promise<OpenStorage> {
  const tables = (sql: Sql): WithScratch<Tables> => ({
    ...contents.tables(sql),
    scratch: new ScratchTable(sql),
  });
  const steps = [
    ...contents.steps,
    {
      name: 'scratch',
      major: 1,
      apply: (executor: Sql) =>
        createTable(executor, {
          name: 'scratch',
          columns: { id: words(40), value: zero, note: nullable(text), at: nullable(integer) },
          primary: ['id'],
        }),
    },
  ];
  return await migratedStorage(t, url, { ...contents, tables, steps });
}

/** Makes the rows that locks take. */
export async function addLockRows(storage: OpenStorage, ids: readonly string[]): Promise<void> {
  const { write } = storage.connections;
  for (const name of ids) {
    await write('tenants').insert({
      id: name,
      name,
      mode: 'live',
      plan: 'free',
      status: 'active',
      disabled: '[]',
      created_at: 0,
    });
    await write('leases').insert({ account_id: name });
  }
}
