import type { Clock } from '../../../core/contracts/clock.ts';

/**
 * The database's clock as far as this process knows it: what a transaction told last, run on by the monotonic clock.
 * For looking; who decides has the transaction's own.
 */
export class DatabaseClock {
  readonly #clock: Clock;
  #told = 0;
  #at = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.tell(clock.now());
  }

  /** A transaction just said what time it is. */
  tell(now: number): void {
    this.#told = now;
    this.#at = this.#clock.monotonic();
  }

  /** A transaction that has ended since was at this time: it is that late at least. */
  atLeast(now: number): void {
    if (now > this.now()) this.tell(now);
  }

  /** Milliseconds since the Unix epoch. */
  now(): number {
    return Math.floor(this.#told + this.#clock.monotonic() - this.#at);
  }
}
