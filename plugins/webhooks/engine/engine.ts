import type { Release } from '../../../core/contracts/broker.ts';
import { Loop } from '../../../core/loop.ts';
import type { PrepareEvents } from '../../events/contract.ts';
import { Recoveries } from '../recovery/recoveries.ts';
import { Deliverer } from './deliverer.ts';
import { makeDirectFanOut } from './direct-fan-out.ts';
import {
  type Due,
  type DueReceiver,
  listenForDue,
  notifyAll,
  notifyOwners,
} from './due-notices.ts';
import { DueThrottle } from './due-timer.ts';
import { eventsAtOnce, makeFanOutLane } from './fan-out-lane.ts';
import { type EngineMetrics, engineMetrics } from './metrics.ts';
import type { EngineParts } from './parts.ts';
import { startUpkeep } from './upkeep.ts';

/** Sweep: time between two rounds without a message. */
const sweepMs = 5_000;
/** Gap between two rounds of the fan-out; longer while no subscription matches, so that a round takes more events. */
const busyMs = 2;
const unwantedMs = 100;
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
  storage.onCommit('deliveries', () => notifyAll(broker));
  if (parts.delivers) return startDelivering(parts);
  const notifying = new DueThrottle(
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

/** Loop that takes events out of the outbox. */
class FanOutLoop {
  readonly #loop: Loop;
  readonly #throttle: DueThrottle;
  #wanted = true;
  #isStopped = false;

  /** @param due called with the receivers to which something is due */
  constructor({ storage, plans, log }: EngineParts, metrics: EngineMetrics, due: Due) {
    const lane = makeFanOutLane(plans, due);
    this.#loop = new Loop(
      () => sweepMs,
      async () => {
        while (!this.#isStopped) {
          const { events, waiting, suppressed } = await storage.submit(lane, null);
          metrics.ended('suppressed', suppressed);
          if (events > 0) this.#wanted = waiting > 0;
          if (events < eventsAtOnce) return;
        }
      },
      (error) => log.warn({ err: error }, 'the fan-out of events failed'),
    );
    this.#throttle = new DueThrottle(
      () => (this.#wanted ? busyMs : unwantedMs),
      () => this.#loop.kick(),
    );
  }

  /** Starts a round soon, as there may be events. */
  kick(): void {
    this.#throttle.call();
  }

  /** Waits for the transaction under way: what is left in the outbox is fanned out by the next process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#throttle.stop();
    await this.#loop.stop();
  }
}
