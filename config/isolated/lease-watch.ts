import type { SharedDeadline } from '../../core/shared-deadline.ts';

/** The longest time between two checks of the deadline, milliseconds. */
const watchMs = 100;

/**
 * Watches the local deadline of the process's leases in the thread of a driver: the gateway's thread, which closes sessions
 * otherwise, may be blocked.
 */
export class LeaseWatch {
  readonly #deadline: SharedDeadline;
  readonly #closings = new Set<() => void>();

  constructor(deadline: SharedDeadline) {
    this.#deadline = deadline;
  }

  get hasPassed(): boolean {
    return this.#deadline.leftMs <= 0;
  }

  start(): void {
    const { leftMs } = this.#deadline;
    const waitMs = leftMs > 0 ? Math.min(watchMs, Math.max(1, leftMs)) : watchMs;
    setTimeout(() => this.#check(), waitMs);
  }

  /** Has a session closed once the deadline has passed. */
  add(close: () => void): void {
    this.#closings.add(close);
  }

  delete(close: () => void): void {
    this.#closings.delete(close);
  }

  /** A `close` that throws leaves the exception to the thread, which it ends: that cuts all sessions. */
  #check(): void {
    this.start();
    if (this.hasPassed) for (const close of [...this.#closings]) close();
  }
}
