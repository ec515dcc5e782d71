/**
 * The nouns of webhooks, as the table objects and the other plugins know them: a subscription (`Webhook`), the
 * receiver behind one or more of them (`Receiver`: one tenant and URL, with its health), and a delivery of one
 * event to one subscription. Times are milliseconds since the Unix epoch, by the database's clock.
 */
import type { Sql } from '../../../core/contracts/sql.ts';
import type { LeasedTable, LeaseRows } from '../../cluster/contract.ts';
import { DeliveryTable } from './deliveries.ts';
import { ReceiverTable, receiverLeases } from './receivers.ts';
import { type TenantOf, WebhookTable } from './webhooks.ts';

/** The table objects of webhook subscriptions, their receivers and the deliveries to these. */
export interface WebhookTables {
  readonly webhooks: WebhookTable;
  readonly receivers: ReceiverTable;
  readonly deliveries: DeliveryTable;
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
  };
}
