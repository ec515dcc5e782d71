import type { Clock } from '../../../core/contracts/clock.ts';
import type { SessionSettings } from './environment.ts';

/** By how much the local deadline is shorter than the lease, milliseconds. */
const marginMs = 1_000;

/**
 * Until when a process may act on a lease, on its own monotonic clock. Counted from before the request that
 * renewed it was sent, so it ends before the database's expiry whatever that request took. It never ends where
 * nobody else could take the lease. Pure.
 */
export function localDeadline(
  sentAt: number,
  { leaseMs, isAlone }: Pick<SessionSettings, 'leaseMs' | 'isAlone'>,
): number {
  if (isAlone) return Number.POSITIVE_INFINITY;
  return sentAt + leaseMs - Math.min(marginMs, leaseMs / 4);
}

/** How long this process may act on its leases, by its own clock. */
export class ProcessLease {
  /** On the monotonic clock; past it no byte goes out. */
  deadline = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isHeld(): boolean {
    return this.#clock.monotonic() < this.deadline;
  }
}
