import type { DriverEvent } from '../../../core/contracts/driver.ts';
import type { Timers } from './timers.ts';

/** How long a driver that resumes may say nothing, milliseconds: `msgapp_web` itself gives up after five minutes. */
const longestMs = 360_000;

/** Watches that a driver that resumes goes on to say something, until it has said a state. */
export class ResumeWatchdog {
  readonly #timers: Timers;
  /** Ends the wait; null while no outcome is awaited. */
  #cancel: (() => void) | null = null;
  #tooLong: () => void = () => undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Begins to wait for the outcome of a `resume`, in place of an earlier wait. */
  begin(tooLong: () => void): void {
    this.end();
    this.#tooLong = tooLong;
    this.#wait();
  }

  /** Takes note of what the driver has emitted. */
  heard(type: DriverEvent['type']): void {
    if (this.#cancel === null) return;
    this.end();
    if (type !== 'state') this.#wait();
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #wait(): void {
    this.#cancel = this.#timers.after(longestMs, () => {
      this.#cancel = null;
      this.#tooLong();
    });
  }
}
