import type { Lane, Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { Loop } from '../../../core/loop.ts';
import { writeLane } from '../../../core/write-lane.ts';
import type { Secrets } from '../../secrets/contract.ts';
import { signingSecretContext, signingSecretsOf } from '../subscriptions/secret.ts';
import type { OverSubscription } from '../tables/event-subscriptions.ts';
import type { ControlMessages } from './control-messages.ts';

/** Time between two sweeps: a subscription ends within 2 s after its key. */
const sweepMs = 1_000;
/** Subscriptions of each reason that one sweep ends at most; more follow at once. */
const atOnce = 100;

/** Why a subscription ended, as its callback reads it; the code is that of `Forbidden`. */
const terminated = {
  type: 'terminated',
  error: { code: -32_012, message: 'The API key that subscribed is not valid any more.' },
} as const;

/** Lane that ends a client's subscription; waiting deliveries are deleted when they are found. */
export const unsubscribeLane: Lane<{ readonly tenantId: string; readonly id: string }, void> = {
  ...writeLane('webhooks.unsubscribe', ({ webhooks }, inputs) =>
    webhooks.delete(inputs.map(({ id }) => id)),
  ),
  maxBatch: 32,
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
};

/** Lane that ends subscriptions which are over; answers those that it ended, and no others. */
const endOverLane: Lane<
  { readonly tenantId: string; readonly id: string },
  OverSubscription | null
> = {
  name: 'webhooks.end-over',
  maxBatch: atOnce,
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  async run(unit, inputs) {
    // One may have been refreshed, or ended by another process, since it was found.
    const over = await unit.eventSubscriptions.over(inputs.map(({ id }) => id));
    await unit.webhooks.delete(over.map(({ webhook }) => webhook.id));
    return inputs.map(({ id }) => over.find(({ webhook }) => webhook.id === id) ?? null);
  },
};

/** Dependencies of the sweep. */
export interface SubscriptionEndingParts {
  readonly storage: Pick<Storage, 'read' | 'submit' | 'now'>;
  readonly secrets: Pick<Secrets, 'open'>;
  readonly messages: ControlMessages;
  readonly log: Pick<GatewayLog, 'warn'>;
}

/**
 * Ends subscriptions whose time is over or whose key is revoked or has expired, now and then. Of the latter the callback
 * hears at most once, whatever it answers: a lost answer of the database loses the notice. Safe beside the sweeps of
 * other processes.
 */
export function startEnding(parts: SubscriptionEndingParts): { stop(): Promise<void> } {
  const { storage, log } = parts;
  const notices = new Set<Promise<void>>();
  const loop = new Loop(
    () => sweepMs,
    async () => {
      const { eventSubscriptions } = storage.read;
      const found = await Promise.all([
        eventSubscriptions.expired(atOnce),
        eventSubscriptions.keyless(atOnce),
      ]);
      const ids = new Map(found.flat().map(({ id, tenantId }) => [id, { id, tenantId }]));
      // One batch may be refused beside another: whoever was ended is not found again.
      const ended = await Promise.allSettled(
        [...ids.values()].map((one) => storage.submit(endOverLane, one)),
      );
      for (const one of ended) {
        if (one.status === 'rejected' || one.value?.reason !== 'key') continue;
        const notice = notify(parts, one.value).finally(() => notices.delete(notice));
        notices.add(notice);
      }
      const fault = ended.find((one) => one.status === 'rejected');
      if (fault !== undefined) throw fault.reason;
      if (found.some(({ length }) => length === atOnce)) loop.kick();
    },
    (error) => log.warn({ err: error }, 'ending event subscriptions failed'),
  );
  loop.kick();
  return {
    async stop() {
      await loop.stop();
      await Promise.all(notices);
    },
  };
}

async function notify(
  { storage, secrets, messages, log }: SubscriptionEndingParts,
  { webhook }: OverSubscription,
): Promise<void> {
  const { id: subscriptionId, url } = webhook;
  try {
    const context = signingSecretContext(subscriptionId);
    const open = (sealed: string) => secrets.open(sealed, context);
    const opened = signingSecretsOf(webhook, await storage.now(), open);
    if (opened !== null) await messages.post({ subscriptionId, url, secrets: opened }, terminated);
  } catch (error) {
    log.warn({ err: error, webhook: subscriptionId }, 'the end of a subscription was not said');
  }
}
