import type { SchemaStep } from './schema.ts';
import type { Sql } from './sql.ts';
import type { Tables } from './storage.ts';

/**
 * What a plugin from outside keeps in the gateway's database. Its tables begin with `x_NAME_`, after the name of the
 * plugin: lower case letters, digits and underscores.
 */
export interface PluginStorage {
  /** Makers of table objects, by their names in `unit` and `storage.read`: `Tables` is augmented with them. */
  readonly tables: { readonly [Name in keyof Tables]?: (sql: Sql) => Tables[Name] };
  /** What makes the tables, in the order in which it is applied. */
  readonly steps: readonly SchemaStep[];
  /** Tables whose rows are locked as `TABLE:KEY`, after all locks of the gateway; `key` is the primary key. */
  readonly locks?: readonly { readonly table: string; readonly key: string }[];
}
