import type { EventType } from '../../core/contracts/events.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import { newId } from '../../core/ids.ts';
import { writeLane } from '../../core/write-lane.ts';
import { type AttemptParts, attempt, attemptHeaders } from './attempt.ts';
import { samplePayload } from './samples.ts';
import type { SigningSecrets } from './subscriptions/secret.ts';
import type { Attempt, Delivery } from './tables/delivery-rows.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** A delivery that was made outside the engine, with the body that was sent. */
export interface MadeDelivery {
  readonly delivery: Delivery;
  readonly payload: string;
}

/** Lane that stores tests in the delivery log; idempotent. */
const testLane = writeLane<MadeDelivery>('webhooks.test', async (unit, made) => {
  const webhooks = await unit.webhooks.byIds(made.map(({ delivery }) => delivery.webhookId));
  const there = new Set(webhooks.map(({ id }) => id));
  const kept = made.filter(({ delivery }) => there.has(delivery.webhookId));
  await unit.events.keep(
    kept.map(({ delivery, payload }) => ({
      id: delivery.eventId,
      tenantId: delivery.tenantId,
      type: delivery.eventType,
      subject: delivery.subject,
      createdAt: delivery.createdAt,
      payload,
      trace: null,
    })),
  );
  await unit.deliveries.add(kept.map(({ delivery }) => delivery));
});

/** Dependencies of a test. */
export interface TestParts extends AttemptParts {
  readonly storage: Pick<Storage, 'now' | 'submit'>;
}

/** Request of a test delivery. */
export interface TestDeliveryRequest {
  readonly event: EventType;
  /** Null while signing is off. */
  readonly secrets: SigningSecrets | null;
  /** Aborts the test when its client disconnects or the gateway stops. */
  readonly signal: AbortSignal;
}

/**
 * Delivers a sample of an event type at once, whatever the state of subscription and URL, and stores it in the delivery
 * log. Changes no counter.
 */
export async function deliverSample(
  parts: TestParts,
  webhook: Webhook,
  { event, secrets, signal }: TestDeliveryRequest,
): Promise<{ readonly delivery: Delivery; readonly attempt: Attempt }> {
  const now = await parts.storage.now();
  const deliveryId = newId('dlv', now);
  const payload = JSON.stringify(samplePayload(event, now));
  const { url } = webhook;
  const contents = { event, deliveryId, number: 1, payload, secrets };
  const headersAt = (timestamp: number) => attemptHeaders(contents, timestamp);
  const sent = { ...contents, at: now, url, headersAt };
  const made = await attempt(parts, sent, signal);
  const delivery: Delivery = {
    id: deliveryId,
    tenantId: webhook.tenantId,
    webhookId: webhook.id,
    receiverId: webhook.receiverId,
    eventId: newId('evt', now),
    eventType: event,
    subject: webhook.id,
    state: made.failure === null ? 'delivered' : 'failed',
    test: true,
    attempts: 1,
    retries: 0,
    replayed: false,
    dueAt: null,
    log: [made],
    createdAt: now,
  };
  await parts.storage.submit(testLane, { delivery, payload });
  return { delivery, attempt: made };
}
