import type { SchemaStep, Table } from '../../../core/contracts/schema.ts';
import type { Sql } from '../../../core/contracts/sql.ts';
import { addColumns, createTable } from './schema.ts';

/**
 * One change of the schema.
 *
 * MariaDB commits each statement that changes a table by itself, so a crash may leave half of a step behind:
 * `apply` must be repeatable, statement by statement (`create … if not exists`). And it runs while processes
 * of the version before are still at work: within one major number it only adds, and what it adds is
 * nullable or has a default. An index may go when no statement names it.
 */
export interface MigrationStep {
  /** Unique, for ever; recorded when the step is done. */
  readonly name: string;
  /** Raised by a change that processes of the version before cannot live with. */
  readonly major: number;
  apply(sql: Sql): Promise<void>;
}

/** The step that makes tables with the rows that they start with, unless these are there. */
export function creating(name: string, major: number, tables: readonly Table[]): MigrationStep {
  return {
    name,
    major,
    async apply(sql) {
      for (const table of tables) await createTable(sql, table);
      for (const table of tables) await sql.insertIgnore(table.name, table.rows ?? []);
    },
  };
}

/** The step of a plugin from outside, recorded as `PLUGIN/STEP`. */
export function outsideStep(plugin: string, step: SchemaStep): MigrationStep {
  const { name, major = 1, creates = [], adds = {} } = step;
  const { apply: create } = creating(name, major, creates);
  return {
    name: `${plugin}/${name}`,
    major,
    async apply(sql) {
      await create(sql);
      for (const [table, columns] of Object.entries(adds)) await addColumns(sql, table, columns);
      await step.apply?.(sql);
    },
  };
}
