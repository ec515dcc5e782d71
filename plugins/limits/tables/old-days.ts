import type { Row, Sql } from '../../../core/contracts/sql.ts';

/** The tables that have rows of days, with the columns of their keys. */
const keys = {
  usage_counters: ['tenant_id', 'day', 'account_id'],
  refusal_counters: ['tenant_id', 'day', 'account_id', 'code'],
  limit_notices: ['tenant_id', 'day', 'reason'],
} as const;

/** Deletes a bounded number of rows of days before one day, the oldest first; answers how many. */
export async function deleteDaysBefore(
  { knex, dialect }: Sql,
  table: keyof typeof keys,
  day: string,
  limit: number,
): Promise<number> {
  const columns = keys[table];
  const old: readonly Row[] = await knex(table)
    .select(...columns)
    .where('day', '<', day)
    .orderBy('day')
    .limit(limit);
  if (old.length === 0) return 0;
  const list = old.map(() => `(${columns.map(() => '?').join(', ')})`).join(', ');
  // Keys are compared whole: SQLite would try every account with every tenant.
  const whole = dialect === 'sqlite' ? `values ${list}` : list;
  return knex(table)
    .whereRaw(
      `(${columns.join(', ')}) in (${whole})`,
      old.flatMap((row) => columns.map((column) => row[column] ?? '')),
    )
    .delete();
}
