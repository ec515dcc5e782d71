import type { Clock } from '../../../core/contracts/clock.ts';

/** Lead of the wall clock over the monotonic one from which the machine counts as suspended, milliseconds. */
const suspendedMs = 1_000;

/**
 * Estimate of the database's clock: the time of the last transaction, run on by the monotonic clock, and by the wall
 * clock where the machine was suspended. For queries and timestamps of requests only: decisions take their
 * transaction's own time.
 */
export class DatabaseClock {
  readonly #clock: Clock;
  #base = 0;
  #at = 0;
  /** The wall clock at the same moment. */
  #wall = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.set(clock.now());
  }

  /** Sets the time that a transaction has just read. */
  set(now: number): void {
    this.#base = now;
    this.#at = this.#clock.monotonic();
    this.#wall = this.#clock.now();
  }

  /** Advances the clock to the time of a transaction that has ended, if it is behind: what is due since then is due now. */
  atLeast(now: number): void {
    if (now > this.now()) this.set(now);
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    const passed = this.#clock.monotonic() - this.#at;
    const suspended = this.#clock.now() - this.#wall - passed;
    return Math.floor(this.#base + passed + (suspended > suspendedMs ? suspended : 0));
  }
}
