import { Loop } from '../../../core/loop.ts';
import type { Due } from './due-notices.ts';
import { eventsAtOnce, makeFanOutLane } from './fan-out-lane.ts';
import type { EngineMetrics } from './metrics.ts';
import { PacedCall } from './paced-call.ts';
import type { EngineParts } from './parts.ts';

/** Sweep: time between two rounds without a message. */
const sweepMs = 5_000;
/** Gap between two rounds; longer while no subscription matches, so that a round takes more events. */
const busyMs = 2;
const unwantedMs = 100;

/** Loop that takes events out of the outbox. */
export class FanOutLoop {
  readonly #loop: Loop;
  readonly #kicking: PacedCall;
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
    this.#kicking = new PacedCall(
      () => (this.#wanted ? busyMs : unwantedMs),
      () => this.#loop.kick(),
    );
  }

  /** Starts a round soon, as there may be events. */
  kick(): void {
    this.#kicking.call();
  }

  /** Waits for the transaction under way: what is left in the outbox is fanned out by the next process. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#kicking.stop();
    await this.#loop.stop();
  }
}
