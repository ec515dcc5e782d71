import type { DueDelivery, Health, LeasedReceiver, ReceiverLease } from '../contract.ts';
import { isFailing, requestsAtOnce } from '../health.ts';

/** By how much the local deadline is shorter than the lease, milliseconds. */
const marginMs = 1_000;

/** Deliveries under way for each request that may be open: those whose outcome is being stored count as well. */
const underWayFactor = 8;

/**
 * Until when a process may begin attempts under a lease, on its own monotonic clock. Counted from before the
 * request that won or renewed it was sent, so it ends before the database's expiry. Pure.
 */
export function leaseDeadline(sentAt: number, leaseMs: number): number {
  return sentAt + leaseMs - Math.min(marginMs, leaseMs / 4);
}

/** A receiver that this process works at, from the lease that it won to its release. */
export class ReceiverRun {
  readonly receiverId: string;
  readonly tenantId: string;
  lease: ReceiverLease;
  health: Health;
  /** When the lease ends, on the monotonic clock. */
  deadline: number;
  /** Another process has the lease: only what is under way is brought to its end. */
  lost = false;
  /** The lease is just being given up. */
  releasing = false;
  /** Deliveries are just being ended that do not go out. */
  ending = false;
  /** There may be something due that was not looked at. */
  hungry = true;
  /** The last look may not have shown everything that can begin once something under way has ended. */
  more = false;
  /** When it was last looked at what is due, on the monotonic clock. */
  lookedAt = 0;
  /** Since when there is nothing to do, on the monotonic clock. */
  idleSince: number | null = null;
  /** Requests that are open. */
  open = 0;
  /** Deliveries that were begun and whose outcome is not stored yet. */
  readonly underWay = new Map<string, DueDelivery>();
  /** Those of them that were not answered yet: later first attempts about the same subject wait for theirs. */
  readonly unanswered = new Map<string, DueDelivery>();

  constructor({ receiver, lease }: LeasedReceiver, deadline: number) {
    this.receiverId = receiver.id;
    this.tenantId = receiver.tenantId;
    this.health = receiver.health;
    this.lease = lease;
    this.deadline = deadline;
  }

  /** The lease was won again while attempts from an earlier one are still under way. */
  resume({ receiver, lease }: LeasedReceiver, deadline: number): void {
    this.lease = lease;
    this.deadline = deadline;
    this.health = receiver.health;
    this.lost = false;
    this.releasing = false;
    this.hungry = true;
  }

  get paused(): boolean {
    return this.health.disabledAt !== null;
  }

  get failing(): boolean {
    return isFailing(this.health);
  }

  /** Whether attempts may begin. */
  mayAct(monotonic: number): boolean {
    return !this.lost && !this.releasing && !this.ending && monotonic < this.deadline;
  }

  /** Further requests that it may open. */
  room(concurrency: number): number {
    if (this.paused) return 0;
    const atOnce = requestsAtOnce(this.health, concurrency);
    return Math.min(atOnce - this.open, atOnce * underWayFactor - this.underWay.size);
  }

  /** Whether there is, or may be, something to do. */
  get busy(): boolean {
    const isWorking = this.underWay.size > 0 || this.ending || this.releasing;
    return isWorking || (this.hungry && !this.lost);
  }

  /** It is just being looked at what is due. */
  looked(monotonic: number): void {
    this.hungry = false;
    this.lookedAt = monotonic;
  }

  /** Something under way has ended: what had to wait for it can begin. */
  ended(): void {
    if (this.more) this.hungry = true;
  }
}
