import type { Cursors } from '../../secrets/contract.ts';
import type { DeliveryLog } from '../delivery-log.ts';
import type { BeginInput } from '../recovery/begin-lane.ts';
import type { TestDeliveryRequest } from '../sample-delivery.ts';
import type { WebhookSubscriptions } from '../subscriptions/subscriptions.ts';
import type { Attempt, Delivery } from '../tables/delivery-rows.ts';
import type { Recovery } from '../tables/recoveries.ts';
import type { Webhook } from '../tables/webhook-rows.ts';

/** Dependencies of the operations on webhooks. */
export interface WebhookOperationsParts {
  readonly subscriptions: WebhookSubscriptions;
  readonly deliveryLog: DeliveryLog;
  /**
   * Delivers a sample at once, signed with the opened secret, and puts it into the log.
   * @throws GatewayError `rate_limited` while another test is under way
   */
  deliverSample(
    webhook: Webhook,
    sample: TestDeliveryRequest,
  ): Promise<{ readonly delivery: Delivery; readonly attempt: Attempt }>;
  readonly recover: {
    /** @throws GatewayError `webhook_not_found`, `webhook_not_delivering`, `recovery_running` */
    begin(input: Omit<BeginInput, 'id'>): Promise<Recovery>;
    find(webhookId: string): Promise<Recovery | null>;
  };
  readonly cursors: Cursors;
}
