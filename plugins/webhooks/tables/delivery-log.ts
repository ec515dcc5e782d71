import type { Knex } from 'knex';
import type { EventType } from '../../../core/contracts/events.ts';
import type { Sql } from '../../../core/contracts/sql.ts';
import {
  type Delivery,
  type DeliveryColumns,
  type DeliveryState,
  deliveryOf,
} from './delivery-rows.ts';

/** Filter of a page of the delivery log. */
export interface DeliveryFilter {
  readonly state: DeliveryState | null;
  readonly event: EventType | null;
  /** Upper bound, exclusive, by creation time and id; null for the newest. */
  readonly before: readonly [createdAt: number, id: string] | null;
  readonly limit: number;
}

/** Indexes in whose order a log is listed: of a subscription, and of one state in it. */
const logIndex = 'deliveries_webhook_id_created_at_id';
const stateLogIndex = 'deliveries_webhook_id_state_created_at_id';

/** A page of a subscription's log, newest first. */
export async function deliveryPage(
  { knex, dialect }: Sql,
  webhookId: string,
  filter: DeliveryFilter,
): Promise<readonly Delivery[]> {
  // Without the hint MariaDB and MySQL read the log from its newest delivery on for a page in the middle.
  const index = filter.state === null ? logIndex : stateLogIndex;
  const query = knex
    .from(
      dialect === 'mysql' ? knex.raw('?? force index (??)', ['deliveries', index]) : 'deliveries',
    )
    .where('webhook_id', webhookId);
  if (filter.state !== null) query.andWhere('state', filter.state);
  if (filter.event !== null) query.andWhere('event_type', filter.event);
  if (filter.before !== null) olderThan(query, filter.before);
  const rows: readonly DeliveryColumns[] = await query
    .orderBy([
      { column: 'created_at', order: 'desc' },
      { column: 'id', order: 'desc' },
    ])
    .limit(filter.limit);
  return rows.map(deliveryOf);
}

function olderThan(query: Knex.QueryBuilder, [createdAt, id]: readonly [number, string]): void {
  // The first condition is implied by the second; it lets both engines begin inside the index.
  query
    .andWhere('created_at', '<=', createdAt)
    .andWhere((older) =>
      older
        .where('created_at', '<', createdAt)
        .orWhere((same) => same.where('created_at', createdAt).andWhere('id', '<', id)),
    );
}
