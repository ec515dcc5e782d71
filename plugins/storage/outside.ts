import type { PluginStorage } from '../../core/contracts/plugin-storage.ts';
import type { Sql } from '../../core/contracts/sql.ts';
import type { Tables } from '../../core/contracts/storage.ts';
import { StartRefusal } from '../../core/start-refusal.ts';
import type { StorageContents } from './contents.ts';
import { Executor } from './executor.ts';
import { outsideStep } from './migrations/steps.ts';

/** A plugin from outside, which may keep something. */
export interface KeepingPlugin {
  readonly name: string;
  readonly keeps: PluginStorage | null;
}

/** Before a database is opened, table objects have their names only. */
const nowhere = new Executor(
  {
    ask: () => Promise.reject(new Error('no database is open')),
    get knex(): never {
      throw new Error('no database is open');
    },
  },
  'sqlite',
);

type TableMakers = Readonly<Record<string, (sql: Sql) => object>>;

/**
 * The contents of the storage with those of plugins from outside: their steps after the gateway's own, and their locks,
 * by table, after all others.
 * @throws StartRefusal when a plugin claims a name outside its prefix, or one that is taken
 */
export function withPlugins(
  own: StorageContents,
  plugins: readonly KeepingPlugin[],
): StorageContents {
  const kept = plugins.flatMap(({ name, keeps }) => (keeps === null ? [] : [{ name, keeps }]));
  if (kept.length === 0) return own;
  const taken = new Set<string>();
  for (const plugin of kept) refuseWrong(plugin, taken);
  const makers = kept.flatMap(({ keeps }) => Object.entries(keeps.tables as TableMakers));
  const known = new Set(Object.keys(own.tables(nowhere)));
  for (const [name] of makers) {
    if (known.has(name)) throw new StartRefusal(`Two plugins claim the tables "${name}".`);
    known.add(name);
  }
  const locks = kept.flatMap(({ keeps }) => keeps.locks ?? []);
  return {
    tables(sql) {
      const tables: Record<string, object> = { ...own.tables(sql) };
      for (const [name, make] of makers) tables[name] = make(sql);
      // The gateway's own, and those by which plugins have augmented the type.
      return tables as unknown as Tables;
    },
    locks: [
      ...own.locks,
      ...locks
        .map(({ table, key }) => ({ prefix: `${table}:` as `x_${string}:`, table, key }))
        .sort((one, other) => (one.table < other.table ? -1 : 1)),
    ],
    schema: [
      ...own.schema,
      ...kept.flatMap(({ keeps }) => keeps.steps.flatMap(({ creates = [] }) => creates)),
    ],
    steps: [
      ...own.steps,
      ...kept.flatMap(({ name, keeps }) => keeps.steps.map((step) => outsideStep(name, step))),
    ],
  };
}

/** @throws StartRefusal that names the plugin */
function refuseWrong(
  { name, keeps }: { readonly name: string; readonly keeps: PluginStorage },
  taken: Set<string>,
): void {
  const refuse = (what: string): never => {
    throw new StartRefusal(`The plugin "${name}" cannot keep its tables: ${what}.`);
  };
  if (!/^[a-z][a-z0-9_]{0,29}$/.test(name)) {
    refuse('its name must be at most 30 lower case letters, digits and underscores');
  }
  const prefix = `x_${name}_`;
  const made = keeps.steps.flatMap(({ creates = [] }) => creates.map((table) => table.name));
  const changed = keeps.steps.flatMap(({ adds = {} }) => Object.keys(adds));
  const locked = (keeps.locks ?? []).map(({ table }) => table);
  for (const table of [...made, ...changed, ...locked]) {
    if (!new RegExp(`^${prefix}[a-z0-9_]+$`).test(table)) {
      refuse(`the name of the table "${table}" must begin with ${prefix}`);
    }
  }
  for (const table of made) {
    if (taken.has(table)) refuse(`there already is a table "${table}"`);
    taken.add(table);
  }
  const steps = keeps.steps.map((step) => step.name);
  const repeated = steps.find((step, index) => steps.indexOf(step) !== index);
  if (repeated !== undefined) refuse(`it has two steps "${repeated}"`);
}
