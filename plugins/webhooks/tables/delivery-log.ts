import type { Knex } from 'knex';
import { olderThan, type Sql } from '../../../core/contracts/sql.ts';
import {
  type Delivery,
  type DeliveryColumns,
  type DeliveryState,
  deliveryOf,
} from './delivery-rows.ts';

/** Where a delivery is in a log. */
export type DeliveryPosition = readonly [createdAt: number, id: string];

/** Filter of a page of the delivery log: what an index has. */
export interface DeliveryFilter {
  readonly state: DeliveryState | null;
  /** Upper bound, exclusive; null for the newest. */
  readonly before: DeliveryPosition | null;
  readonly limit: number;
}

/** A delivery of which only the event is read. */
export type ListedDelivery = Pick<Delivery, 'id' | 'createdAt' | 'eventType'>;

/** Up to which the deliveries of a backlog are counted. */
export const backlogMost = 10_000;

/** Deliveries of a subscription that wait for their first attempt, but for replays, which are as old as their events. */
export interface DeliveryBacklog {
  readonly deliveries: number;
  readonly oldest: number | null;
}

/** Indexes in whose order a log is listed: of a subscription, and of one state in it. */
const logIndex = 'deliveries_webhook_id_created_at_id';
const stateLogIndex = 'deliveries_webhook_id_state_created_at_id_attempts_replayed';

/** A page of a subscription's log, newest first. */
export async function deliveryPage(
  sql: Sql,
  webhookId: string,
  filter: DeliveryFilter,
): Promise<readonly Delivery[]> {
  const rows: readonly DeliveryColumns[] = await pageQuery(sql, webhookId, filter);
  return rows.map(deliveryOf);
}

/** The events of the deliveries of such a page. */
export async function deliveryEvents(
  sql: Sql,
  webhookId: string,
  filter: DeliveryFilter,
): Promise<readonly ListedDelivery[]> {
  const rows: readonly Pick<DeliveryColumns, 'id' | 'created_at' | 'event_type'>[] =
    await pageQuery(sql, webhookId, filter).select('id', 'created_at', 'event_type');
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    eventType: row.event_type,
  }));
}

/**
 * How many deliveries of a subscription wait for their first attempt, but for replays, counted up to `backlogMost`, and
 * when the oldest was made.
 */
export async function deliveryBacklog(db: Sql, webhookId: string): Promise<DeliveryBacklog> {
  // SQLite would take the index of the attempts, and walk what waits for all subscriptions.
  const hint = db.dialect === 'mysql' ? 'force index' : 'indexed by';
  const index = db.dialect === 'mysql' ? `(${stateLogIndex})` : stateLogIndex;
  const [row] = await db.rows<DeliveryBacklog>(
    `select count(*) as deliveries, min(created_at) as oldest from (
       select created_at from deliveries ${hint} ${index}
       where webhook_id = ? and state = 'waiting' and attempts = 0 and replayed = 0
       order by created_at limit ${backlogMost}
     ) as backlog`,
    [webhookId],
  );
  return row ?? { deliveries: 0, oldest: null };
}

function pageQuery(
  { knex, dialect }: Sql,
  webhookId: string,
  filter: DeliveryFilter,
): Knex.QueryBuilder {
  // Without the hint MariaDB and MySQL read the log from its newest delivery on for a page in the middle.
  const index = filter.state === null ? logIndex : stateLogIndex;
  const query = knex
    .from(
      dialect === 'mysql' ? knex.raw('?? force index (??)', ['deliveries', index]) : 'deliveries',
    )
    .where('webhook_id', webhookId);
  if (filter.state !== null) query.andWhere('state', filter.state);
  if (filter.before !== null) {
    const [createdAt, id] = filter.before;
    olderThan(query, { createdAt, id });
  }
  return query
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(filter.limit);
}
