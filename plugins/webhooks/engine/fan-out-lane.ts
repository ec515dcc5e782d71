import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import type { Plans } from '../../tenants/contract.ts';
import { type Due, receiversOf } from './due-notices.ts';
import { makeDeliveries } from './fan-out.ts';

/** Counts of one round of the fan-out. */
export interface FannedOut {
  /** Events taken out of the outbox. */
  readonly events: number;
  /** Deliveries made that wait for their first attempt. */
  readonly waiting: number;
  readonly suppressed: number;
}

/** Maximum events of one round; a round with fewer has emptied the outbox. */
export const eventsAtOnce = 500;

/**
 * Lane that takes the oldest events out of the outbox and makes one delivery for each matching subscription. One
 * process at a time fans out.
 * @param due called after the commit with the receivers to which something is due
 */
export function makeFanOutLane(plans: Plans, due: Due): Lane<null, FannedOut> {
  return {
    name: 'webhooks.fan-out',
    maxBatch: 1,
    locks: () => [],
    run: oneByOne((unit) => fanOutOldest(unit, plans, due)),
  };
}

async function fanOutOldest(unit: Unit, plans: Plans, due: Due): Promise<FannedOut> {
  const { events, now } = await unit.events.waitingForChange(eventsAtOnce);
  if (events.length === 0) return { events: 0, waiting: 0, suppressed: 0 };
  const tenantIds = events.map((event) => event.tenantId);
  const made = makeDeliveries(events, await unit.webhooks.subscriptionsOf(tenantIds), plans, now);
  const deliveries = made.map(({ delivery }) => delivery);
  await unit.withCommit.deliveries.add(deliveries);
  await unit.withCommit.events.markFannedOut(events.map((event) => event.id));
  const waiting = made.filter(({ delivery }) => delivery.state === 'waiting');
  const receivers = receiversOf(waiting, now);
  const receiverIds = receivers.map(({ receiverId }) => receiverId);
  await unit.withCommit.receivers.wake(receiverIds, now);
  if (receivers.length > 0) unit.afterCommit(() => due(receivers));
  return {
    events: events.length,
    waiting: waiting.length,
    suppressed: deliveries.length - waiting.length,
  };
}
