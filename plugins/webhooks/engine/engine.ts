import type { Release } from '../../../core/contracts/broker.ts';
import type { PrepareEvents } from '../../events/contract.ts';
import { Recoveries } from '../recovery/recoveries.ts';
import { Deliverer } from './deliverer.ts';
import { makeDirectFanOut } from './direct-fan-out.ts';
import { type Due, type DueReceiver, listenForDue, notifyOwners } from './due-notices.ts';
import { FanOutLoop } from './fan-out-loop.ts';
import { engineMetrics } from './metrics.ts';
import { PacedCall } from './paced-call.ts';
import type { EngineParts } from './parts.ts';
import { startUpkeep } from './upkeep.ts';

/** Gap between two messages to the processes that deliver. */
const notifyMs = 25;

/** The running engine. */
export interface Engine {
  /** Fans events out in the transaction that raises them. */
  readonly directFanOut: PrepareEvents;
  /** Waits for the attempts under way and releases the receivers. Never rejects. */
  stop(): Promise<void>;
}

/**
 * Starts the delivery of events in this process: from the outbox to one delivery for each subscription, and to its
 * receiver. A process without the role only notifies the others of its events. Called once, while booting.
 */
export async function startEngine(parts: EngineParts): Promise<Engine> {
  const { storage, broker, outbox } = parts;
  if (parts.delivers) return startDelivering(parts);
  const notifying = new PacedCall(
    () => notifyMs,
    () => broker.toWorker('events', {}),
  );
  outbox.onCommit(() => notifying.call());
  const metrics = engineMetrics(parts.metrics, storage);
  const directFanOut = makeDirectFanOut(parts, metrics, (fresh) => notifyOwners(broker, fresh));
  return { directFanOut, stop: async () => notifying.stop() };
}

async function startDelivering(parts: EngineParts): Promise<Engine> {
  const { broker, outbox, storage } = parts;
  const metrics = engineMetrics(parts.metrics, storage);
  const deliverer = new Deliverer(parts, metrics);
  const due: Due = (receivers) => {
    const isOthers = ({ receiverId, owner }: DueReceiver) =>
      owner !== null && owner !== broker.processId && !deliverer.holds(receiverId);
    const own = receivers.filter((receiver) => !isOthers(receiver));
    const ids = own.map(({ receiverId }) => receiverId);
    if (ids.length > 0) deliverer.wake(ids, Math.max(...own.map(({ dueAt }) => dueAt)));
    notifyOwners(broker, deliverer.claims ? receivers.filter(isOthers) : receivers);
  };
  const fanOut = new FanOutLoop(parts, metrics, due);
  const directFanOut = makeDirectFanOut(parts, metrics, (fresh) => {
    const left = deliverer.takeFresh(fresh);
    if (left.length > 0) due(left);
  });
  const releases: Release[] = [
    await broker.work('events', 1, () => fanOut.kick()),
    ...(await listenForDue(broker, (receiverIds, dueAt) => deliverer.wake(receiverIds, dueAt))),
  ];
  // This process fans out what it raised itself: no message need come back for it.
  outbox.onCommit(() => fanOut.kick());
  broker.onReady(() => {
    fanOut.kick();
    deliverer.wake(null);
  });
  fanOut.kick();
  deliverer.start();
  const upkeep = startUpkeep(parts);
  const { log, plans, settings } = parts;
  const { concurrency } = settings;
  const recoveries = new Recoveries({ storage, log, plans, concurrency, due });
  recoveries.start();
  return {
    directFanOut,
    async stop() {
      await Promise.all([recoveries.stop(), fanOut.stop()]);
      await deliverer.stop();
      await upkeep.stop();
      for (const release of releases) {
        await release().catch((error: unknown) => {
          parts.log.warn(
            { err: error },
            'a broker subscription of deliveries could not be released',
          );
        });
      }
    },
  };
}
