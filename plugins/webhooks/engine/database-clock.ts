import type { Clock } from '../../../core/contracts/clock.ts';

/**
 * Estimate of the database's clock: the time of the last transaction, run on by the monotonic clock. For queries and
 * timestamps of requests only: decisions take their transaction's own time.
 */
export class DatabaseClock {
  readonly #clock: Clock;
  #base = 0;
  #at = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.set(clock.now());
  }

  /** Sets the time that a transaction has just read. */
  set(now: number): void {
    this.#base = now;
    this.#at = this.#clock.monotonic();
  }

  /** Advances the clock to the time of a transaction that has ended, if it is behind: what is due since then is due now. */
  atLeast(now: number): void {
    if (now > this.now()) this.set(now);
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return Math.floor(this.#base + this.#clock.monotonic() - this.#at);
  }
}
