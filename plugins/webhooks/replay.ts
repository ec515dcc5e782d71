import { eventSet } from '../../core/contracts/events.ts';
import type { Lane } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import { type Due, wakeNow } from './engine/due-notices.ts';
import { hasEvents } from './matching.ts';
import { eventTypeNotReplayed, testNotReplayed } from './refusals.ts';
import { isRetry } from './retry.ts';
import type { Delivery } from './tables/delivery-rows.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** A delivery to be replayed. */
export interface ReplayInput {
  readonly webhookId: string;
  readonly deliveryId: string;
}

/** The delivery after the replay, waiting. */
export type ReplayOutput = { readonly delivery: Delivery } | { readonly refused: GatewayError };

/**
 * Lane of replays. Like retries, replays go to the current URL of their subscription.
 * @param due called after the commit with the receivers to which they are due
 */
export function makeReplayLane(due: Due): Lane<ReplayInput, ReplayOutput> {
  return {
    name: 'webhooks.replay',
    maxBatch: 64,
    locks: () => [],
    async run(unit, inputs) {
      const webhooks = await unit.webhooks.byIds(inputs.map(({ webhookId }) => webhookId));
      const tenants = await unit.tenants.find(webhooks.map(({ tenantId }) => tenantId));
      const webhookOf = new Map(webhooks.map((webhook) => [webhook.id, webhook]));
      const stored = await unit.deliveries.forChange(inputs.map(({ deliveryId }) => deliveryId));
      const deliveryOf = new Map(stored.map((delivery) => [delivery.id, delivery]));
      const forgotten = await unit.deliveries.ofForgotten([...deliveryOf.keys()]);
      const replayed = new Map<string, Delivery>();
      const outputs = inputs.map(({ webhookId, deliveryId }): ReplayOutput => {
        const webhook = webhookOf.get(webhookId);
        if (webhook === undefined) return { refused: new GatewayError('webhook_not_found') };
        const before = deliveryOf.get(deliveryId);
        if (before?.webhookId !== webhookId || forgotten.has(deliveryId)) {
          return { refused: new GatewayError('delivery_not_found') };
        }
        if (before.test) return { refused: testNotReplayed() };
        const tenant = tenants.get(webhook.tenantId);
        if (tenant !== undefined && !hasEvents(tenant, before.eventType)) {
          const set = eventSet(new Set(tenant.disabled));
          return { refused: eventTypeNotReplayed(before.eventType, set) };
        }
        const delivery = replayOf(before, webhook, unit.now);
        deliveryOf.set(deliveryId, delivery);
        replayed.set(deliveryId, delivery);
        return { delivery };
      });
      const changed = [...replayed.values()];
      await unit.deliveries.save(changed);
      await unit.deliveries.reassign(changed);
      const receiverIds = changed.map(({ receiverId }) => receiverId);
      await wakeNow(unit, receiverIds, due);
      return outputs;
    },
  };
}

/** A delivery made due at once: a waiting one keeps its retries, any other is attempted once more. Pure. */
export function replayOf(delivery: Delivery, webhook: Webhook, now: number): Delivery {
  return {
    ...delivery,
    receiverId: webhook.receiverId,
    state: 'waiting',
    replayed: delivery.state === 'waiting' ? delivery.replayed : true,
    broughtForward: delivery.state === 'waiting' && isRetry(delivery),
    dueAt: Math.min(delivery.dueAt ?? now, now),
  };
}
