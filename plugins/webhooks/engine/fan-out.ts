import { grouped } from '../../../core/grouped.ts';
import { newId } from '../../../core/ids.ts';
import type { Plans } from '../../tenants/contract.ts';
import { type FannedEvent, goesOut, mayUseWebhooks, wants } from '../matching.ts';
import type { Delivery } from '../tables/delivery-rows.ts';
import type { SubscriptionSnapshot, Webhook, WebhookWithReceiver } from '../tables/webhook-rows.ts';

/** A new delivery with its subscription and event. */
export interface DeliveryOfEvent<Event extends FannedEvent> {
  readonly delivery: Delivery;
  readonly webhook: WebhookWithReceiver;
  readonly event: Event;
}

/** Makes one delivery for each event and matching subscription, in the order of the events. Pure but for the ids. */
export function makeDeliveries<Event extends FannedEvent>(
  events: readonly Event[],
  { webhooks, tenants }: SubscriptionSnapshot,
  plans: Plans,
  now: number,
): readonly DeliveryOfEvent<Event>[] {
  const ofTenant = grouped(webhooks, ({ tenantId }) => tenantId);
  return events.flatMap((event) => {
    const tenant = tenants.get(event.tenantId);
    if (tenant === undefined) return [];
    const all = ofTenant.get(event.tenantId) ?? [];
    const wanting = all.filter((webhook) => wants(webhook, tenant, event, now));
    return wanting.map((webhook) => {
      const health = { disabledAt: webhook.pausedAt };
      const isOut = goesOut(webhook, health, mayUseWebhooks(tenant, plans));
      return { delivery: newDelivery(webhook, event, isOut, now), webhook, event };
    });
  });
}

function newDelivery(webhook: Webhook, event: FannedEvent, isOut: boolean, now: number): Delivery {
  return {
    id: newId('dlv', now),
    tenantId: webhook.tenantId,
    webhookId: webhook.id,
    receiverId: webhook.receiverId,
    eventId: event.id,
    eventType: event.type,
    subject: event.subject,
    state: isOut ? 'waiting' : 'suppressed',
    test: false,
    attempts: 0,
    retries: 0,
    replayed: false,
    dueAt: isOut ? now : null,
    log: [],
    createdAt: now,
  };
}
