import type { Clock } from '../../../core/contracts/clock.ts';
import type { LeaseToken } from '../../cluster/contract.ts';

/** Time for which a lease is left to others, and kept the first time, milliseconds. */
const turnMs = 60_000;

/** How often that time doubles for a lease that comes back, as no other process has the driver: to about an hour. */
const mostDoublings = 6;

/**
 * Leases of accounts whose channel has no driver in this process: kept for a while, so that no process claims them again
 * and again, then left to others, which may have it.
 */
export class ParkedLeases {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #kept = new Map<string, { readonly lease: LeaseToken; readonly since: number }>();
  /** Until when each account is left to others. */
  readonly #left = new Map<string, number>();
  /** How often each account was left to others. */
  readonly #turns = new Map<string, number>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#kept.size;
  }

  get leases(): readonly LeaseToken[] {
    return [...this.#kept.values()].map(({ lease }) => lease);
  }

  /** Leases that were kept long enough. */
  get due(): readonly LeaseToken[] {
    const kept = [...this.#kept.values()];
    return kept.flatMap(({ lease, since }) => {
      const doublings = Math.min(this.#turns.get(lease.id) ?? 0, mostDoublings);
      return this.#isOver(since, turnMs * 2 ** doublings) ? [lease] : [];
    });
  }

  /** The accounts that were left to others lately. */
  get left(): readonly string[] {
    for (const [id, until] of this.#left) if (this.#isOver(until, 0)) this.#left.delete(id);
    return [...this.#left.keys()];
  }

  has(accountId: string): boolean {
    return this.#kept.has(accountId);
  }

  keep(lease: LeaseToken): void {
    this.#kept.set(lease.id, { lease, since: this.#clock.monotonic() });
  }

  leave(leases: readonly LeaseToken[]): void {
    for (const lease of leases) {
      this.leaveFor(lease, turnMs);
      this.#turns.set(lease.id, (this.#turns.get(lease.id) ?? 0) + 1);
    }
  }

  /** Leaves a lease to others for so long, milliseconds; that is no turn. */
  leaveFor(lease: LeaseToken, ms: number): void {
    this.#left.set(lease.id, this.#clock.monotonic() + ms);
    this.forget(lease);
  }

  forget({ id, number }: LeaseToken): void {
    if (this.#kept.get(id)?.lease.number === number) this.#kept.delete(id);
  }

  /** Drops the lease of an account whose session is opened here. */
  delete(accountId: string): void {
    this.#kept.delete(accountId);
    this.#turns.delete(accountId);
  }

  clear(): void {
    this.#kept.clear();
  }

  #isOver(since: number, ms: number): boolean {
    return this.#clock.monotonic() - since >= ms;
  }
}
