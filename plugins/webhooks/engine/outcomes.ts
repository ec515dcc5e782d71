import { setTimeout as pause } from 'node:timers/promises';
import type { Lane } from '../../../core/contracts/storage.ts';
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

/** Pause before another try to store something, and the most tries while stopping. */
const againMs = 500;
const triesWhileStopping = 4;

/**
 * While requests end well, what came of those of so many milliseconds is stored in one transaction, or of so many: nobody
 * waits for it, and each transaction takes processor time from what somebody waits for.
 */
const gatherMs = 30;
const gatherMost = 48;

/** Stores what became of deliveries, and counts it. */
export class Outcomes {
  readonly #parts: EngineParts;
  readonly #metrics: EngineMetrics;
  readonly #attempted: Lane<OutcomeInput, Outcome, Attempted>;
  readonly #ended: Lane<EndInput, Ended>;
  readonly #gathering = new Gathering(gatherMs, gatherMost);
  #stopping = false;

  constructor(parts: EngineParts, metrics: EngineMetrics) {
    const { plans, settings, log } = parts;
    this.#parts = parts;
    this.#metrics = metrics;
    const pause = { failures: settings.pauseAfterFailures, forMs: settings.pauseAfterMs };
    this.#attempted = makeOutcomeLane({ delaysMs: settings.retryDelaysMs, pause }, log);
    this.#ended = makeEndLane(plans);
  }

  /** From now on the database is not waited for very long. */
  stopping(): void {
    this.#stopping = true;
  }

  /** Stores an attempt, however often the database has to be asked; null when the stop was in the way. */
  async attempted(input: OutcomeInput): Promise<Outcome | null> {
    const { storage, log } = this.#parts;
    let left = triesWhileStopping;
    // A failure is stored at once: it is what a receiver that fails is spared, or paused, by.
    if (input.attempt.failure === null) await this.#gathering.wait();
    for (;;) {
      try {
        const outcome = await storage.submit(this.#attempted, input);
        if (outcome.result !== 'ignored') this.#metrics.ended(outcome.result);
        return outcome;
      } catch (error) {
        log.warn({ err: error, delivery: input.deliveryId }, 'an outcome could not be stored');
        if (this.#stopping && --left === 0) return null;
        await pause(againMs);
      }
    }
  }

  /** Ends deliveries that do not go out; what could not be stored is found again. */
  async end(deliveryIds: readonly string[]): Promise<void> {
    const { storage, log } = this.#parts;
    try {
      const { suppressed, failed } = await storage.submit(this.#ended, { deliveryIds });
      this.#metrics.ended('suppressed', suppressed);
      this.#metrics.ended('failed', failed);
    } catch (error) {
      log.warn({ err: error }, 'deliveries could not be suppressed');
      await pause(againMs);
    }
  }
}
