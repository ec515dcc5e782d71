import { setTimeout as pause } from 'node:timers/promises';
import type { Lane } from '../../../core/contracts/storage.ts';
import { notifyOwners } from './due-notices.ts';
import { type Ended, type EndInput, makeEndLane } from './end-lane.ts';
import { Gathering } from './gathering.ts';
import type { EngineMetrics } from './metrics.ts';
import {
  type Attempted,
  makeOutcomeLane,
  type Outcome,
  type OutcomeInput,
} from './outcome-lane.ts';
import type { EngineParts } from './parts.ts';

/** Pause before the next try to store an outcome, and the maximum of tries while stopping. */
const againMs = 500;
const triesWhileStopping = 4;

/**
 * Successes are stored in groups, of so many milliseconds or attempts: nobody waits for them, and fewer transactions
 * take less processor time from those that somebody waits for.
 */
const gatherMs = 30;
const gatherMost = 48;

/** Stores and counts the outcomes of deliveries. */
export class Outcomes {
  readonly #parts: EngineParts;
  readonly #metrics: EngineMetrics;
  readonly #attempted: Lane<OutcomeInput, Outcome, Attempted>;
  readonly #ended: Lane<EndInput, Ended>;
  readonly #gathering = new Gathering(gatherMs, gatherMost);
  #stopping = false;

  constructor(parts: EngineParts, metrics: EngineMetrics) {
    const { broker, plans, settings, log } = parts;
    this.#parts = parts;
    this.#metrics = metrics;
    const pause = { failures: settings.pauseAfterFailures, forMs: settings.pauseAfterMs };
    const { retryDelaysMs: delaysMs, eventRetryDelaysMs: eventDelaysMs } = settings;
    this.#attempted = makeOutcomeLane({ delaysMs, eventDelaysMs, pause }, log);
    this.#ended = makeEndLane(plans, (receivers) => notifyOwners(broker, receivers));
  }

  /** Limits the tries from now on, as the engine stops. */
  stopping(): void {
    this.#stopping = true;
  }

  /** Stores an attempt, trying until the database takes it; null when the engine stopped before. */
  async attempted(input: OutcomeInput): Promise<Outcome | null> {
    const { storage, log } = this.#parts;
    let left = triesWhileStopping;
    // A failure is stored at once, so that a failing receiver soon gets fewer requests or is paused.
    // A later attempt is stored at once, too: a recovery goes on once its deliveries have ended.
    const { failure, number } = input.attempt;
    if (failure === null && number === 1) await this.#gathering.wait();
    for (;;) {
      try {
        const outcome = await storage.submit(this.#attempted, input);
        if (outcome.result !== 'ignored') this.#metrics.ended(outcome.result);
        return outcome;
      } catch (error) {
        log.warn(
          { err: error, delivery: input.deliveryId },
          'the outcome of a delivery could not be stored',
        );
        if (this.#stopping && --left === 0) return null;
        await pause(againMs);
      }
    }
  }

  /** Ends deliveries that do not go out; after a failure a later poll finds them again. */
  async end(deliveryIds: readonly string[]): Promise<void> {
    const { storage, log } = this.#parts;
    try {
      const { suppressed, failed } = await storage.submit(this.#ended, { deliveryIds });
      this.#metrics.ended('suppressed', suppressed);
      this.#metrics.ended('failed', failed);
    } catch (error) {
      log.warn({ err: error }, 'deliveries that do not go out could not be ended');
      await pause(againMs);
    }
  }
}
