import type { Clock } from '../../../core/contracts/clock.ts';
import { type ClockReading, readClocks, wasSuspended } from '../../../core/suspension.ts';

/**
 * Estimate of the database's clock: the time of the last transaction, run on by the monotonic clock, and by the wall
 * clock where the machine was suspended. For queries and timestamps of requests only: decisions take their
 * transaction's own time.
 */
export class DatabaseClock {
  readonly #clock: Clock;
  #base: number;
  /** This machine's clocks when the time was set. */
  #set: ClockReading;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#set = readClocks(clock);
    this.#base = this.#set.wall;
  }

  /** Sets the time that a transaction has just read. */
  set(now: number): void {
    this.#base = now;
    this.#set = readClocks(this.#clock);
  }

  /** Advances the clock to the time of a transaction that has ended, if it is behind: what is due since then is due now. */
  atLeast(now: number): void {
    if (now > this.now()) this.set(now);
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    const read = readClocks(this.#clock);
    const clock = wasSuspended(this.#set, read) ? 'wall' : 'monotonic';
    return Math.floor(this.#base + read[clock] - this.#set[clock]);
  }
}
