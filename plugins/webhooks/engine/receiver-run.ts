import type { DueDelivery, Health, LeasedReceiver, ReceiverLease } from '../contract.ts';
import { isFailing, requestsAtOnce } from '../health.ts';
import { HandedOver } from './handed.ts';
import type { Start } from './windows.ts';

/** By how much the local deadline is shorter than the lease, milliseconds. */
const marginMs = 1_000;

/** For how long what was read ahead may begin: a change of its subscription shows no later than this. */
const freshMs = 50;

/** For how long it may at least: what can begin at once does so in this time. */
const beginMs = 5;

/** The most deliveries read ahead for each request that may be open. */
const aheadFactor = 10;

/**
 * Deliveries under way for each request that may be open: those whose outcome is being stored count as well, and these
 * are all that a fast receiver is sent while one transaction follows another.
 */
const underWayFactor = 16;

/** Deliveries that are kept at most which were handed over and could not begin yet. */
const mostHanded = 64;

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
  /** Since the last look there was none for want of room, though something may have been due. */
  passedOver = false;
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
  /** What the last look found beyond the requests that it could open; it may begin as soon as others have ended. */
  #ahead: Start[] = [];
  /** Until when that may begin, on the monotonic clock. */
  #freshUntil = 0;
  /** What was made by this process and need not be looked for. */
  readonly #handed = new HandedOver(mostHanded);
  /** How long the latest answer took, milliseconds; infinite before the first. */
  #answerMs = Number.POSITIVE_INFINITY;
  /** What was begun since the last look, which does not know of it. */
  readonly #begun = new Set<string>();

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
    return isWorking || ((this.hungry || this.hasHanded) && !this.lost);
  }

  /** It is just being looked at what is due. */
  looked(monotonic: number): void {
    this.hungry = false;
    this.lookedAt = monotonic;
    this.#begun.clear();
  }

  /** How many attempts a look is to find beyond those that can begin at once: what may begin while it is fresh. */
  ahead(concurrency: number): number {
    if (this.paused) return 0;
    const each = Math.min(freshMs / this.#answerMs, aheadFactor);
    return Math.floor(requestsAtOnce(this.health, concurrency) * each);
  }

  /** Whether less than a third of them are left. */
  runsLow(concurrency: number): boolean {
    return this.#ahead.length * 3 < this.ahead(concurrency);
  }

  /**
   * Takes what a look has found, in place of what the one before left. However long the look took, what can begin now
   * does: else nothing would as long as the database is slow.
   * @param end the ids of those that are over without an attempt
   */
  found(start: readonly Start[], end: readonly string[], monotonic: number): void {
    this.passedOver = false;
    this.#ahead = start.filter(({ delivery }) => !this.hasBegun(delivery.id));
    this.#freshUntil = Math.max(this.lookedAt + freshMs, monotonic + beginMs);
    if (this.#ahead.length < start.length) this.more = true;
    const left = this.#handed.giveWay(start, end, this.lookedAt);
    const late = this.#handed.dropBefore(this.lookedAt - freshMs);
    if (left || late) this.hungry = true;
  }

  /**
   * Takes first attempts whose deliveries have just become durable, in order, about subjects of which no earlier event
   * was raised; answers whether it did. Those that it did not take are to be looked for.
   * @param readAt when their subscriptions were read, on the monotonic clock
   */
  takeFresh(starts: readonly Start[], readAt: number, monotonic: number): boolean {
    return !this.paused && this.mayAct(monotonic) && this.#handed.take(starts, readAt);
  }

  /** Whether something that was found has not begun. */
  get hasAhead(): boolean {
    return this.#ahead.length > 0;
  }

  /** Whether something that was handed over has not begun. */
  get hasHanded(): boolean {
    return !this.#handed.isEmpty;
  }

  /** Whether a delivery was begun while the last look was under way. */
  hasBegun(deliveryId: string): boolean {
    return this.#begun.has(deliveryId);
  }

  /** The next attempt of those found that may begin, if the look is recent enough, else of those handed over. */
  next(monotonic: number): Start | undefined {
    if (monotonic > this.#freshUntil) this.#drop();
    const place = this.#ahead.findIndex(({ delivery }) => !this.#holdsBack(delivery));
    if (place >= 0) return this.#ahead.splice(place, 1)[0];
    if (this.#owesLook) return undefined;
    if (this.#handed.dropBefore(monotonic - freshMs)) this.hungry = true;
    return this.#handed.next(({ delivery }) => !this.#holdsBack(delivery));
  }

  /** A request is opened. */
  begin({ delivery }: Start): void {
    this.#begun.add(delivery.id);
    this.underWay.set(delivery.id, delivery);
    this.unanswered.set(delivery.id, delivery);
    this.open += 1;
  }

  /** A request was answered, or failed. */
  answered({ delivery }: Start, durationMs: number): void {
    this.#answerMs = durationMs;
    this.unanswered.delete(delivery.id);
    this.open -= 1;
    this.#ended();
  }

  /** What came of a delivery is stored. */
  stored({ delivery }: Start): void {
    this.underWay.delete(delivery.id);
    this.#ended();
  }

  /**
   * What a look finds is too old when a slow receiver has room again, so that one which never has enough of it would be
   * given what is new for ever, and its retries would wait: there a look comes before what was handed over.
   */
  get #owesLook(): boolean {
    return this.passedOver && this.#answerMs > freshMs / 2;
  }

  #drop(): void {
    if (this.#ahead.length > 0) this.hungry = true;
    this.#ahead = [];
  }

  /** A first attempt waits for the one before it about the same subject. */
  #holdsBack({ attempts, webhookId, subject }: DueDelivery): boolean {
    if (attempts > 0) return false;
    for (const one of this.unanswered.values()) {
      if (one.attempts === 0 && one.webhookId === webhookId && one.subject === subject) return true;
    }
    return false;
  }

  /** Something under way has ended: what had to wait for it can begin. */
  #ended(): void {
    if (this.more) this.hungry = true;
  }
}
