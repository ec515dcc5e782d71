import { grouped } from '../../../core/grouped.ts';
import type { PrepareEvents } from '../../events/contract.ts';
import type { ReadyAttempt } from './due-batches.ts';
import { type DueReceiver, receiversOf } from './due-notices.ts';
import { makeDeliveries } from './fan-out.ts';
import type { EngineMetrics } from './metrics.ts';
import type { EngineParts } from './parts.ts';

/** Deliveries that were fanned out to one receiver. */
export interface FreshDeliveries extends DueReceiver {
  /** Time at which the subscriptions were read, on the monotonic clock. */
  readonly readAt: number;
  /** First attempts that wait for no earlier event, in order. */
  readonly ready: readonly ReadyAttempt[];
  /** Whether there are others, which may have to wait for earlier events. */
  readonly hasOthers: boolean;
}

/**
 * Fans events out in the transaction that raises them, for the outbox.
 * @param due called after the commit with the deliveries
 */
export function makeDirectFanOut(
  { plans, clock }: Pick<EngineParts, 'plans' | 'clock'>,
  metrics: EngineMetrics,
  due: (fresh: readonly FreshDeliveries[]) => void,
): PrepareEvents {
  return async (tables, tenantIds) => {
    const readAt = clock.monotonic();
    const subscriptions = await tables.webhooks.subscriptionsOf(tenantIds);
    return async ({ withCommit, now, afterCommit }, raised) => {
      const kept = await withCommit.events.recordFannedOut(raised);
      const events = kept.map((event, n) => ({ ...event, first: raised[n]?.first ?? false }));
      const made = makeDeliveries(events, subscriptions, plans, now);
      const waiting = made.filter(({ delivery }) => delivery.state === 'waiting');
      const receivers = receiversOf(waiting, now);
      await withCommit.deliveries.add(made.map(({ delivery }) => delivery));
      const receiverIds = receivers.map(({ receiverId }) => receiverId);
      await withCommit.receivers.wake(receiverIds, now);
      const waitingAt = grouped(waiting, ({ delivery }) => delivery.receiverId);
      const fresh = receivers.map((receiver): FreshDeliveries => {
        const all = waitingAt.get(receiver.receiverId) ?? [];
        const ready = all.filter(({ event }) => event.first);
        return { ...receiver, readAt, ready, hasOthers: ready.length < all.length };
      });
      afterCommit(() => {
        metrics.ended('suppressed', made.length - waiting.length);
        if (fresh.length > 0) due(fresh);
      });
    };
  };
}
