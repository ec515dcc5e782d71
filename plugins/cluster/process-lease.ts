import type { Clock } from '../../core/contracts/clock.ts';
import type { ProcessLease } from './contract.ts';

/** By how much the local deadline is shorter than the lease, milliseconds. */
const marginMs = 1_000;

/** What the local deadline depends on. */
export interface LeaseTerms {
  readonly leaseMs: number;
  /** No other process can use this database: nobody takes a lease away. */
  readonly isAlone: boolean;
}

/**
 * The local deadline of a process's leases, on its own monotonic clock. It counts from before the renewal was sent, so it
 * ends before the database's expiry, however long the request took. Infinite where no other process can exist. Pure.
 */
export function localDeadline(sentAt: number, { leaseMs, isAlone }: LeaseTerms): number {
  if (isAlone) return Number.POSITIVE_INFINITY;
  return sentAt + leaseMs - Math.min(marginMs, leaseMs / 4);
}

/** The one deadline of this process, which every renewal extends. */
export class LocalLease implements ProcessLease {
  deadline = Number.NEGATIVE_INFINITY;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isHeld(): boolean {
    return this.#clock.monotonic() < this.deadline;
  }
}
