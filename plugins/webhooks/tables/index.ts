/**
 * Tables of webhooks: subscriptions (`Webhook`), receivers (`Receiver`: one tenant and URL with its health, behind one
 * or more subscriptions), and deliveries of one event to one subscription. Times are milliseconds since the Unix epoch,
 * by the database's clock.
 */
import type { Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows } from '../../cluster/contract.ts';
import { DeliveryTable } from './deliveries.ts';
import { EventSubscriptionTable } from './event-subscriptions.ts';
import { ReceiverTable, receiverLeases } from './receivers.ts';
import { RecoveryTable } from './recoveries.ts';
import { type TenantOf, WebhookTable } from './webhooks.ts';

/** Table objects of subscriptions, receivers and deliveries. */
export interface WebhookTables {
  readonly webhooks: WebhookTable;
  readonly receivers: ReceiverTable;
  readonly deliveries: DeliveryTable;
  readonly recoveries: RecoveryTable;
  readonly eventSubscriptions: EventSubscriptionTable;
}

declare module '../../../core/contracts/storage.ts' {
  interface Tables extends WebhookTables {}
}

/** Makes them for one transaction, or for the connections that only read. */
export function makeWebhookTables(
  sql: Sql,
  tenantOf: TenantOf,
  leases: (table: LeasedTable) => LeaseRows,
): WebhookTables {
  return {
    webhooks: new WebhookTable(sql, tenantOf),
    receivers: new ReceiverTable(sql, leases(receiverLeases)),
    deliveries: new DeliveryTable(sql),
    recoveries: new RecoveryTable(sql),
    eventSubscriptions: new EventSubscriptionTable(sql),
  };
}
