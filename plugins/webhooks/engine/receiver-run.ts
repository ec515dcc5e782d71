import type { LeaseToken, ProcessLease } from '../../cluster/contract.ts';
import { isFailing, requestsAtOnce } from '../health.ts';
import type { DueDelivery } from '../tables/delivery-rows.ts';
import type { Health, LeasedReceiver } from '../tables/receiver-rows.ts';
import type { DueBatch, ReadyAttempt } from './due-batches.ts';
import { HandoffQueue } from './handoff-queue.ts';
import { initialState, type ReceiverState, type Trigger, transition } from './receiver-state.ts';

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
const mostHandedOff = 64;

/** A receiver that this process delivers to, from the lease that it won to its release. Its states: `transition`. */
export class ReceiverRun {
  readonly receiverId: string;
  readonly tenantId: string;
  #state = initialState;
  #lease: LeaseToken;
  #health: Health;
  readonly #processLease: Pick<ProcessLease, 'deadline'>;
  /** When the last poll began, on the monotonic clock. */
  #polledAt = 0;
  /** Since when there is nothing to do, on the monotonic clock. */
  #idleSince: number | null = null;
  /** Requests that are open. */
  #open = 0;
  /** Deliveries that were begun and whose outcome is not stored yet. */
  readonly #underWay = new Set<string>();
  /** First attempts among them that were not answered yet: later ones about the same subject wait for theirs. */
  readonly #unanswered = new Set<DueDelivery>();
  /** What the last poll found beyond the requests that it could open; it may begin as soon as others have ended. */
  #ahead: ReadyAttempt[] = [];
  /** Until when that may begin, on the monotonic clock. */
  #freshUntil = 0;
  /** What was handed over and needs no poll. */
  readonly #handoffs = new HandoffQueue(mostHandedOff);
  /** How long the latest answer took, milliseconds; infinite before the first. */
  #answerMs = Number.POSITIVE_INFINITY;
  /** What was begun since the last poll, which does not know of it. */
  readonly #begun = new Set<string>();

  constructor({ receiver, lease }: LeasedReceiver, processLease: Pick<ProcessLease, 'deadline'>) {
    this.receiverId = receiver.id;
    this.tenantId = receiver.tenantId;
    this.#health = receiver.health;
    this.#lease = lease;
    this.#processLease = processLease;
  }

  get lease(): LeaseToken {
    return this.#lease;
  }

  get state(): ReceiverState {
    return this.#state;
  }

  /** A trigger that changes no more than the state. */
  apply(trigger: Trigger): void {
    this.#state = transition(this.#state, trigger);
  }

  /** The lease was won again while attempts from an earlier one are still under way. */
  resume({ receiver, lease }: LeasedReceiver): void {
    this.#lease = lease;
    this.#health = receiver.health;
    this.apply('win');
  }

  /** The lease is just being given back. */
  release(): void {
    this.#idleSince = null;
    this.apply('release');
  }

  /** The receiver's health was read or changed. */
  updateHealth(health: Health): void {
    this.#health = health;
  }

  get paused(): boolean {
    return this.#health.disabledAt !== null;
  }

  get failing(): boolean {
    return isFailing(this.#health);
  }

  /** Whether attempts may begin. */
  mayAct(monotonic: number): boolean {
    const { lease, work } = this.#state;
    return lease === 'held' && work !== 'draining' && monotonic < this.#processLease.deadline;
  }

  /** Further requests that it may open. */
  room(concurrency: number): number {
    if (this.paused) return 0;
    const atOnce = requestsAtOnce(this.#health, concurrency);
    return Math.min(atOnce - this.#open, atOnce * underWayFactor - this.#underWay.size);
  }

  /** For how long there has been nothing to do, milliseconds; null while there is, or may be, something. */
  idleMs(monotonic: number): number | null {
    const { lease, work } = this.#state;
    const isWorking = this.#underWay.size > 0 || work === 'draining' || lease === 'releasing';
    const mayBegin = (this.needsPoll || this.hasHandoffs) && lease !== 'lost';
    this.#idleSince = isWorking || mayBegin ? null : (this.#idleSince ?? monotonic);
    return this.#idleSince === null ? null : monotonic - this.#idleSince;
  }

  get needsPoll(): boolean {
    return this.#state.work === 'wanted';
  }

  /** Whether it is to be polled: something may be due, or the last poll is so many milliseconds ago. */
  isToBePolled(monotonic: number, sweepMs: number): boolean {
    return this.mayAct(monotonic) && (this.needsPoll || monotonic - this.#polledAt >= sweepMs);
  }

  /** Whether a poll has any use: for requests, to read ahead, or to end what does not go out of one that is paused. */
  canUsePoll(slots: number, concurrency: number): boolean {
    // Less than a third of what is read ahead is left.
    const runsLow = this.#ahead.length * 3 < this.ahead(concurrency);
    return slots > 0 || runsLow || (this.paused && this.#underWay.size === 0);
  }

  /** A poll begins. */
  poll(monotonic: number): void {
    this.apply('poll');
    this.#polledAt = monotonic;
    this.#begun.clear();
  }

  /** What a poll need not find: what is under way, and first attempts about a subject of which one is unanswered. */
  exceptions(): { readonly except: string[]; readonly exceptFirstOf: DueDelivery[] } {
    return { except: [...this.#underWay], exceptFirstOf: [...this.#unanswered] };
  }

  /** How many attempts a poll is to find beyond those that can begin at once: what may begin while it is fresh. */
  ahead(concurrency: number): number {
    if (this.paused) return 0;
    const each = Math.min(freshMs / this.#answerMs, aheadFactor);
    return Math.floor(requestsAtOnce(this.#health, concurrency) * each);
  }

  /**
   * Takes what a poll has found, in place of what the one before left. However long the poll took, what can begin now
   * does: else nothing would as long as the database is slow.
   * @returns the ids of those that are to be ended without an attempt
   */
  found({ receiver, ready, over, more, isFull }: DueBatch, monotonic: number): readonly string[] {
    this.#health = receiver.health;
    this.apply(more ? 'foundPart' : 'foundAll');
    this.#ahead = ready.filter(({ delivery }) => !this.#begun.has(delivery.id));
    this.#freshUntil = Math.max(this.#polledAt + freshMs, monotonic + beginMs);
    if (this.#ahead.length < ready.length) this.apply('leave');
    const left = this.#handoffs.dropFound(ready, over, this.#polledAt);
    const late = this.#handoffs.dropBefore(this.#polledAt - freshMs);
    if (isFull || left || late) this.apply('wake');
    return over.filter((id) => !this.#begun.has(id));
  }

  /**
   * Takes first attempts whose deliveries have just become durable, in order, about subjects of which no earlier event
   * was raised; answers whether it did. Those that it did not take need a poll.
   * @param readAt when their subscriptions were read, on the monotonic clock
   */
  takeFresh(attempts: readonly ReadyAttempt[], readAt: number, monotonic: number): boolean {
    return !this.paused && this.mayAct(monotonic) && this.#handoffs.add(attempts, readAt);
  }

  /** Whether something that was handed over has not begun. */
  get hasHandoffs(): boolean {
    return !this.#handoffs.isEmpty;
  }

  /** Whether something that was found or handed over has not begun. */
  get hasReady(): boolean {
    return this.#ahead.length > 0 || this.hasHandoffs;
  }

  /** The next attempt of those found that may begin, if the poll is recent enough, else of those handed over. */
  next(monotonic: number): ReadyAttempt | undefined {
    if (monotonic > this.#freshUntil && this.#ahead.splice(0).length > 0) this.apply('wake');
    const index = this.#ahead.findIndex(({ delivery }) => !this.#holdsBack(delivery));
    if (index >= 0) return this.#ahead.splice(index, 1)[0];
    // Fairness: a slow receiver that was skipped polls before it takes what was handed over, else its retries starve.
    if (this.#state.turn === 'skipped' && this.#answerMs > freshMs / 2) return undefined;
    if (this.#handoffs.dropBefore(monotonic - freshMs)) this.apply('wake');
    return this.#handoffs.next(({ delivery }) => !this.#holdsBack(delivery));
  }

  /** What is left of these does not begin now. */
  leave(): void {
    if (this.#ahead.length > 0) this.apply('leave');
    // A poll ends what does not go out any more.
    if (this.hasHandoffs && this.paused) this.apply('wake');
  }

  /** A request is opened. */
  begin({ delivery }: ReadyAttempt): void {
    this.#begun.add(delivery.id);
    this.#underWay.add(delivery.id);
    if (delivery.attempts === 0) this.#unanswered.add(delivery);
    this.#open += 1;
  }

  /** A request was answered, or failed. */
  answered({ delivery }: ReadyAttempt, durationMs: number): void {
    this.#answerMs = durationMs;
    this.#unanswered.delete(delivery);
    this.#open -= 1;
    this.apply('ended');
  }

  /** What came of a delivery is stored. */
  stored({ delivery }: ReadyAttempt): void {
    this.#underWay.delete(delivery.id);
    this.apply('ended');
  }

  /** A first attempt waits for the one before it about the same subject. */
  #holdsBack({ attempts, webhookId, subject }: DueDelivery): boolean {
    if (attempts > 0) return false;
    for (const one of this.#unanswered) {
      if (one.webhookId === webhookId && one.subject === subject) return true;
    }
    return false;
  }
}
