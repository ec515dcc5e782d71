import type { Executor } from '../../../plugins/storage/executor.ts';

/** Enough for the longest statement about a million rows. */
export const statementMs = 600_000;

/**
 * Takes the indexes of a table away while it is filled, and makes them again: sorted at once, they take a fraction of
 * the time. Nobody else may use the table meanwhile.
 */
export async function withoutIndexes(
  executor: Executor,
  table: string,
  fill: () => Promise<void>,
): Promise<void> {
  const run = async (sql: string): Promise<void> => {
    await executor.knex.raw(sql).options({ timeout: statementMs });
  };
  const indexes = await (executor.dialect === 'mysql'
    ? mysqlIndexes(executor, table)
    : sqliteIndexes(executor, table));
  for (const { drop } of indexes) await run(drop);
  await fill();
  const make = indexes.map((index) => index.make);
  if (executor.dialect === 'sqlite') for (const sql of make) await run(sql);
  // One statement reads the table once for all of them.
  else await run(`alter table ${table} ${make.join(', ')}`);
}

/** How an index is taken away and made. */
interface Index {
  readonly drop: string;
  readonly make: string;
}

async function sqliteIndexes(executor: Executor, table: string): Promise<readonly Index[]> {
  const rows = await executor.rows<{ name: string; sql: string }>(
    "select name, sql from sqlite_master where type = 'index' and tbl_name = ? and sql is not null",
    [table],
  );
  return rows.map(({ name, sql }) => ({ drop: `drop index ${name}`, make: sql }));
}

async function mysqlIndexes(executor: Executor, table: string): Promise<readonly Index[]> {
  const rows = await executor.rows<{ name: string; others: number; columns: string }>(
    `select index_name as name, max(non_unique) as others,
       group_concat(column_name order by seq_in_index) as columns
     from information_schema.statistics
     where table_schema = database() and table_name = ? and index_name <> 'PRIMARY'
     group by index_name`,
    [table],
  );
  return rows.map(({ name, others, columns }) => ({
    drop: `alter table ${table} drop index ${name}`,
    make: `add ${others === 1 ? '' : 'unique '}index ${name} (${columns})`,
  }));
}
