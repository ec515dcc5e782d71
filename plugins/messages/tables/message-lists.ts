import type { Knex } from 'knex';
import { olderThan, type Sql } from '../../../core/contracts/sql.ts';
import type { ListPosition } from '../../../core/list-position.ts';
import {
  type Direction,
  type JoinedColumns,
  type MessageColumns,
  type MessageWithContact,
  withContacts,
} from './message-rows.ts';

/** Which messages a list has, newest first. */
export interface MessageFilter {
  readonly direction: Direction | null;
  readonly accountId: string | null;
  readonly contactId?: string | null;
  /** From this moment on. */
  readonly since?: number | null;
  /** Before this moment. */
  readonly until?: number | null;
  readonly before: ListPosition | null;
  readonly limit: number;
}

/**
 * One page of a tenant's messages, newest first, by (created_at, id). On SQLite pages of both directions are put together
 * from those of each, as it has no index of both.
 */
export async function messagePage(
  db: Sql,
  tenantId: string,
  filter: MessageFilter,
): Promise<readonly MessageWithContact[]> {
  if (filter.contactId != null) return await pageOfContact(db, tenantId, filter);
  if (filter.direction !== null || db.dialect === 'mysql') {
    return withContacts(await inList(joinedMessages(db, listColumns(filter)), tenantId, filter));
  }
  const { knex } = db;
  const [inbound, outbound] = (['inbound', 'outbound'] as const).map((direction) => {
    const page = knex.from('messages as m').select('m.id');
    return knex.select('id').from(inList(page, tenantId, { ...filter, direction }));
  });
  if (inbound === undefined || outbound === undefined) return [];
  const query = joinedMessages(db).whereIn('m.id', inbound.unionAll(outbound));
  return withContacts(await newestFirst(query, filter.limit));
}

/** A contact's messages are listed by an index that has a direction: a page of both is put together from those of each. */
async function pageOfContact(
  db: Sql,
  tenantId: string,
  filter: MessageFilter,
): Promise<readonly MessageWithContact[]> {
  const { direction, limit } = filter;
  const directions = direction === null ? (['inbound', 'outbound'] as const) : [direction];
  const index = ['contact_id', 'direction', 'created_at'];
  const pages = directions.map(async (direction) =>
    withContacts(await inList(joinedMessages(db, index), tenantId, { ...filter, direction })),
  );
  return (await Promise.all(pages))
    .flat()
    .sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1))
    .slice(0, limit);
}

/**
 * The messages, under the name `m`.
 * @param index the columns of the index to read by. MariaDB and MySQL are forced: for a page in the middle they
 *   would read the whole tenant from its newest message on, and for the head of a queue the whole queue.
 */
export function messagesBy({ knex, dialect }: Sql, index: readonly string[]): Knex.Raw | string {
  return dialect === 'mysql' && index.length > 0
    ? knex.raw('?? as ?? force index (??)', ['messages', 'm', `messages_${index.join('_')}`])
    : 'messages as m';
}

/** Messages with their contacts: a left join, so that both engines read the messages first, in the order of their index. */
export function joinedMessages(db: Sql, index: readonly string[] = []): Selection<JoinedColumns> {
  return db.knex
    .from(messagesBy(db, index))
    .leftJoin('contacts as c', 'c.id', 'm.contact_id')
    .select('m.*', 'c.phone as contact_phone', 'c.name as contact_name');
}

/** Rows of a table, to be confined. */
export type Selection<Columns extends object> = Knex.QueryBuilder<Columns, Columns[]>;

/** Selects whole rows of messages, under the name `m`. @param index as of `messagesBy` */
export function messageRows(db: Sql, index: readonly string[] = []): Selection<MessageColumns> {
  return db.knex.from<MessageColumns>(messagesBy(db, index)).select<MessageColumns[]>('m.*');
}

/** Locks what a query selects until the transaction ends. SQLite has one writer at a time and needs no lock. */
export function locked(db: Sql, query: Selection<MessageColumns>): Selection<MessageColumns> {
  return db.dialect === 'mysql' ? query.forUpdate() : query;
}

/** The columns of the index by which a list is read. */
function listColumns({ accountId, direction }: MessageFilter): readonly string[] {
  const ofAccount = accountId === null ? [] : ['account_id'];
  const ofDirection = direction === null ? [] : ['direction'];
  return ['tenant_id', ...ofAccount, ...ofDirection, 'created_at', 'id'];
}

/** Confines a query of `m` to one page of a list, newest first. */
function inList<Query extends Knex.QueryBuilder>(
  query: Query,
  tenantId: string,
  {
    accountId,
    contactId = null,
    direction,
    since = null,
    until = null,
    before,
    limit,
  }: MessageFilter,
): Query {
  if (contactId === null) query.where('m.tenant_id', tenantId);
  // The sign keeps SQLite from the index of the tenant: that of the contact is shorter.
  else query.where('m.contact_id', contactId).whereRaw('+m.tenant_id = ?', tenantId);
  if (since !== null) query.where('m.created_at', '>=', since);
  if (until !== null) query.where('m.created_at', '<', until);
  if (direction !== null) query.where('m.direction', direction);
  if (accountId !== null) query.where('m.account_id', accountId);
  if (before !== null) olderThan(query, before, 'm.');
  return newestFirst(query, limit);
}

function newestFirst<Query extends Knex.QueryBuilder>(query: Query, limit: number): Query {
  query.orderBy('m.created_at', 'desc').orderBy('m.id', 'desc').limit(limit);
  return query;
}
