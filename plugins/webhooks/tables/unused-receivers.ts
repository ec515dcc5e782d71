import { placeholders, type Sql } from '../../../core/contracts/sql.ts';

/**
 * Deletes receivers that no subscription has, unchanged since a moment; answers how many. One to which something is due,
 * or which a process holds, stays.
 */
export async function deleteUnusedReceivers(
  db: Sql,
  before: number,
  limit: number,
): Promise<number> {
  const free = 'owner is null and due_at is null';
  const found = await db.rows<{ readonly id: string }>(
    // As a join, receivers that are free are looked for among subscriptions: MariaDB reads all of these for NOT EXISTS.
    `select r.id as id from receivers r left join webhooks w on w.receiver_id = r.id
     where r.owner is null and r.due_at is null and r.updated_at < ? and w.id is null limit ?`,
    [before, limit],
  );
  if (found.length === 0) return 0;
  // Whoever stores a subscription then locks its receiver: what is read under this lock to be unused stays so.
  const locked = await db.rows<{ readonly id: string }>(
    `select id from receivers where id in (${placeholders(found.length)})
     and ${free} order by id ${db.lockingFree}`,
    found.map(({ id }) => id),
  );
  const ids = locked.map(({ id }) => id);
  const used: string[] = await db.knex('webhooks').whereIn('receiver_id', ids).pluck('receiver_id');
  return db.knex('receivers').whereIn('id', ids).whereNotIn('id', used).delete();
}
