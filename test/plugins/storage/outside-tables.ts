import { contents } from '../../../config/tables.ts';
import type { PluginStorage } from '../../../core/contracts/plugin-storage.ts';
import { id, zero } from '../../../core/contracts/schema.ts';
import { type Sql, SqlTable } from '../../../core/contracts/sql.ts';
import type { Lane, Tables, Unit } from '../../../core/contracts/storage.ts';
import { withPlugins } from '../../../plugins/storage/outside.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { migratedStorage } from '../../fixtures/process.ts';
import type { Teardown } from '../../harness/processes.ts';

/** The SQL of the counters of a plugin from outside. */
export class CounterTable extends SqlTable {
  async all(): Promise<readonly { readonly id: string; readonly n: number }[]> {
    return await this.db.knex('x_counting_counters').select('id', 'n').orderBy('id');
  }

  async save(counted: string, n: number): Promise<void> {
    await this.db.upsert('x_counting_counters', [{ id: counted, n }], { key: ['id'], set: ['n'] });
  }
}

/** The plugin's own table in a unit, or in `storage.read`: a plugin augments `Tables` instead. */
export function countersOf(tables: Unit | Tables): CounterTable {
  return (tables as Tables & { readonly counters: CounterTable }).counters;
}

// Only where `Tables` is augmented is the name one of its own.
const tables = { counters: (sql: Sql) => new CounterTable(sql) } as PluginStorage['tables'];

/** What the plugin keeps: counters that are there from the start, each a row to lock. */
export const counting: PluginStorage = {
  tables,
  steps: [
    {
      name: '001-first',
      creates: [
        {
          name: 'x_counting_counters',
          columns: { id, n: zero },
          primary: ['id'],
          rows: [{ id: 'it_0' }, { id: 'it_1' }],
        },
      ],
    },
  ],
  locks: [{ table: 'x_counting_counters', key: 'id' }],
};

/** Adds one to a counter: reads it under its lock, then writes. */
export const countLane: Lane<string, number> = {
  name: 'counting.count',
  maxBatch: 3,
  maxConcurrent: 4,
  locks: (counted) => [`x_counting_counters:${counted}`],
  async run(unit, inputs) {
    const outputs: number[] = [];
    for (const counted of inputs) {
      const n = ((await countersOf(unit).all()).find((one) => one.id === counted)?.n ?? 0) + 1;
      await countersOf(unit).save(counted, n);
      outputs.push(n);
    }
    return outputs;
  },
};

/** Opens a migrated storage with what the plugin `counting` keeps. */
export function makeKept(t: Teardown, url: string, keeps = counting): Promise<OpenStorage> {
  return migratedStorage(t, url, withPlugins(contents, [{ name: 'counting', keeps }]));
}
