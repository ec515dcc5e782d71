import type { Clock } from '../../core/contracts/clock.ts';
import { SharedDeadline } from '../../core/shared-deadline.ts';
import { type ClockReading, readClocks, wasSuspended } from '../../core/suspension.ts';
import type { ProcessLease } from './contract.ts';

/** By how much the local deadline is shorter than the lease, milliseconds. */
const marginMs = 1_000;

/** Terms of the local deadline. */
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

/** The one deadline of this process, which every renewal extends, and which has passed once the machine was suspended. */
export class LocalLease implements ProcessLease {
  readonly shared = new SharedDeadline();
  #deadline = Number.NEGATIVE_INFINITY;
  /** When the latest renewal was sent. */
  #sent: ClockReading;
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sent = readClocks(clock);
    this.end();
  }

  get deadline(): number {
    const isBounded = Number.isFinite(this.#deadline);
    if (isBounded && wasSuspended(this.#sent, readClocks(this.#clock))) {
      return Number.NEGATIVE_INFINITY;
    }
    return this.#deadline;
  }

  extend(sent: ClockReading, terms: LeaseTerms): void {
    this.#sent = sent;
    this.#deadline = localDeadline(sent.monotonic, terms);
    this.shared.setIn(this.#deadline - this.#clock.monotonic());
  }

  end(): void {
    this.#deadline = Number.NEGATIVE_INFINITY;
    this.shared.setIn(this.#deadline);
  }

  isHeld(): boolean {
    return this.#clock.monotonic() < this.deadline;
  }
}
