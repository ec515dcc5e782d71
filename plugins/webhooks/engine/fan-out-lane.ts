import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import type { Plans } from '../../tenants/contract.ts';
import type { Delivery, Webhook } from '../contract.ts';
import { goesOut, hasWebhooks, wants } from '../matching.ts';

/** What one round of the fan-out did. */
export interface FannedOut {
  /** Events taken out of the outbox. */
  readonly events: number;
  /** Deliveries that were made. */
  readonly waiting: number;
  readonly suppressed: number;
}

/** What the lane needs besides the database. */
export interface FanOutParts {
  readonly plans: Plans;
  /** Told of the receivers that something is due to, after the commit. */
  due(receiverIds: readonly string[]): void;
}

/** Events that one transaction fans out; fewer in a round mean that no more wait. */
export const eventsAtOnce = 500;

/**
 * Takes the oldest events out of the outbox and makes one delivery for each subscription that wants one. Processes
 * that fan out at once do so in turns.
 */
export function makeFanOutLane(parts: FanOutParts): Lane<null, FannedOut> {
  return {
    name: 'webhooks.fan-out',
    maxBatch: 1,
    locks: () => [],
    async run(unit, inputs) {
      const outputs: FannedOut[] = [];
      for (const _ of inputs) outputs.push(await fanOut(unit, parts));
      return outputs;
    },
  };
}

async function fanOut(unit: Unit, { plans, due }: FanOutParts): Promise<FannedOut> {
  const { events, now } = await unit.events.waitingForChange(eventsAtOnce);
  if (events.length === 0) return { events: 0, waiting: 0, suppressed: 0 };
  const tenantIds = events.map((event) => event.tenantId);
  const [webhooks, tenants, receivers] = await Promise.all([
    unit.webhooks.ofTenants(tenantIds),
    unit.tenants.find(tenantIds),
    unit.receivers.ofTenants(tenantIds),
  ]);
  const deliveries: Delivery[] = [];
  if (webhooks.length > 0) {
    const healthOf = new Map(receivers.map(({ id, health }) => [id, health]));
    const ofTenant = new Map<string, Webhook[]>();
    for (const webhook of webhooks) {
      const known = ofTenant.get(webhook.tenantId);
      if (known === undefined) ofTenant.set(webhook.tenantId, [webhook]);
      else known.push(webhook);
    }
    for (const event of events) {
      const tenant = tenants.get(event.tenantId);
      if (tenant === undefined) continue;
      for (const webhook of ofTenant.get(event.tenantId) ?? []) {
        if (!wants(webhook, tenant, event)) continue;
        const health = healthOf.get(webhook.receiverId);
        const isOut = goesOut(webhook, health, hasWebhooks(tenant, plans));
        deliveries.push(newDelivery(webhook, event, isOut, now));
      }
    }
  }
  await unit.withCommit.deliveries.add(deliveries);
  await unit.withCommit.events.markFannedOut(events.map((event) => event.id));
  const waiting = deliveries.filter((delivery) => delivery.state === 'waiting');
  const receiverIds = [...new Set(waiting.map((delivery) => delivery.receiverId))];
  await unit.withCommit.receivers.wake(receiverIds, now, true);
  if (receiverIds.length > 0) unit.afterCommit(() => due(receiverIds));
  return {
    events: events.length,
    waiting: waiting.length,
    suppressed: deliveries.length - waiting.length,
  };
}

function newDelivery(
  webhook: Webhook,
  event: Pick<Delivery, 'subject'> & { readonly id: string; readonly type: Delivery['eventType'] },
  isOut: boolean,
  now: number,
): Delivery {
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
