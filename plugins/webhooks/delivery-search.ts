import type { EventType } from '../../core/contracts/events.ts';
import { pageOf } from '../../core/list-position.ts';
import type { DeliveryTable } from './tables/deliveries.ts';
import type { DeliveryFilter, DeliveryPosition, ListedDelivery } from './tables/delivery-log.ts';
import type { Delivery } from './tables/delivery-rows.ts';

/** What a page asks of the deliveries of a log. */
export interface DeliverySearch extends DeliveryFilter {
  /** Null: any. */
  readonly event: EventType | null;
}

/** One page of a log: short or even empty where few deliveries have the event. */
export interface DeliveryPage<Item> {
  readonly deliveries: readonly Item[];
  /** Where the next page begins; null at the end of the log. */
  readonly next: DeliveryPosition | null;
}

/** The most deliveries that are read for one page of an event: no index has the events, and a rare one costs no more. */
export const deliveriesScanned = 5_000;
const chunk = 1_000;

/** Reads one page of a subscription's log, newest first. */
export async function searchDeliveries(
  table: Pick<DeliveryTable, 'byIds' | 'list' | 'listEvents'>,
  webhookId: string,
  { event, ...filter }: DeliverySearch,
): Promise<DeliveryPage<Delivery>> {
  const { state, limit } = filter;
  if (event === null) {
    const found = await table.list(webhookId, { ...filter, limit: limit + 1 });
    const { items, last } = pageOf(found, limit);
    return { deliveries: items, next: last === null ? null : positionOf(last) };
  }
  const list = (before: DeliveryPosition | null) =>
    table.listEvents(webhookId, { state, before, limit: chunk });
  const { ids, next } = await matching(list, filter, event);
  const found = new Map((await table.byIds(ids)).map((one) => [one.id, one]));
  // One of them may have been attempted or deleted since.
  const deliveries = ids.flatMap((id) => {
    const one = found.get(id);
    return one === undefined || (state !== null && one.state !== state) ? [] : [one];
  });
  return { deliveries, next };
}

/** The ids of one page, and where the next one begins. */
async function matching(
  list: (before: DeliveryPosition | null) => Promise<readonly ListedDelivery[]>,
  { before, limit }: DeliveryFilter,
  event: EventType,
): Promise<{ readonly ids: readonly string[]; readonly next: DeliveryPosition | null }> {
  const ids: string[] = [];
  let next = before;
  for (let read = 0; read < deliveriesScanned; read += chunk) {
    const rows = await list(next);
    for (const row of rows) {
      if (row.eventType === event) {
        if (ids.length === limit) return { ids, next };
        ids.push(row.id);
      }
      next = positionOf(row);
    }
    if (rows.length < chunk) return { ids, next: null };
    if (ids.length === limit) break;
  }
  return { ids, next };
}

function positionOf({ createdAt, id }: Pick<Delivery, 'createdAt' | 'id'>): DeliveryPosition {
  return [createdAt, id];
}
