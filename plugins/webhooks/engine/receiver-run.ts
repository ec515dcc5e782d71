import type { LeaseToken, ProcessLease } from '../../cluster/contract.ts';
import { isFailing, requestsAtOnce } from '../health.ts';
import type { DueDelivery } from '../tables/delivery-rows.ts';
import type { Health, LeasedReceiver } from '../tables/receiver-rows.ts';
import type { DueBatch, ReadyAttempt } from './due-batches.ts';
import { HandoffQueue } from './handoff-queue.ts';
import { initialState, type ReceiverState, type Trigger, transition } from './receiver-state.ts';
import { SubjectOrder } from './subject-order.ts';

/** Maximum age of what was read ahead: a change of its subscription shows within this time. */
const freshMs = 50;

/** Minimum time for which a poll's result may begin, however long the poll took. */
const beginMs = 5;

/** Maximum deliveries read ahead for each request that may be open. */
const aheadFactor = 10;

/**
 * Maximum deliveries under way for each request that may be open. Deliveries whose outcome is being stored count, too,
 * so that this bounds a fast receiver.
 */
const underWayFactor = 16;

/** Maximum deliveries that were handed over and have not begun. */
const mostHandedOff = 64;

/** Work at one receiver, from winning its lease to the release. For its states see `transition`. */
export class ReceiverRun {
  readonly receiverId: string;
  readonly tenantId: string;
  #state = initialState;
  #lease: LeaseToken;
  #health: Health;
  readonly #processLease: Pick<ProcessLease, 'deadline'>;
  /** Start of the last poll, on the monotonic clock. */
  #polledAt = 0;
  /** Start of idleness, on the monotonic clock; null while there is work. */
  #idleSince: number | null = null;
  /** Open requests. */
  #open = 0;
  /** Open requests that are late with their answer. */
  #late = 0;
  /** Deliveries that have begun and whose outcome is not stored. */
  readonly #underWay = new Set<string>();
  readonly #subjects = new SubjectOrder();
  /** Attempts that the last poll found and that have not begun: they begin as requests end. */
  #ahead: ReadyAttempt[] = [];
  /** End of the time in which those may begin, on the monotonic clock. */
  #freshUntil = 0;
  /** Attempts that were handed over and need no poll. */
  readonly #handoffs = new HandoffQueue(mostHandedOff);
  /** Duration of the latest answer, milliseconds; infinite before the first. */
  #answerMs = Number.POSITIVE_INFINITY;
  /** Deliveries that have begun since the last poll, which may have found them, too. */
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

  /** Applies a trigger to the state. */
  apply(trigger: Trigger): void {
    this.#state = transition(this.#state, trigger);
  }

  /** Resumes under a new lease, while attempts of an earlier one are under way. */
  resume({ receiver, lease }: LeasedReceiver): void {
    this.#lease = lease;
    this.#health = receiver.health;
    this.apply('win');
  }

  /** Begins the release of the lease. */
  release(): void {
    this.#idleSince = null;
    this.apply('release');
  }

  /** Sets the health that was read or changed. */
  updateHealth(health: Health): void {
    this.#health = health;
  }

  get paused(): boolean {
    return this.#health.disabledAt !== null;
  }

  /** Whether its last attempt failed, or an open request is late. */
  get failing(): boolean {
    return isFailing(this.#health) || this.#late > 0;
  }

  /** Counts open requests that are late with their answer. */
  countLate(by: 1 | -1): void {
    this.#late += by;
  }

  /** Whether attempts may begin. */
  mayAct(monotonic: number): boolean {
    const { lease, work } = this.#state;
    return lease === 'held' && work !== 'draining' && monotonic < this.#processLease.deadline;
  }

  /** Further requests that may be opened. */
  room(concurrency: number): number {
    if (this.paused) return 0;
    const atOnce = requestsAtOnce(this.#health, concurrency);
    return Math.min(atOnce - this.#open, atOnce * underWayFactor - this.#underWay.size);
  }

  /** Duration of idleness, milliseconds; null while there is or may be work. */
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

  /** Whether a poll is wanted: something may be due, or the last poll is older than the sweep. */
  isToBePolled(monotonic: number, sweepMs: number): boolean {
    return this.mayAct(monotonic) && (this.needsPoll || monotonic - this.#polledAt >= sweepMs);
  }

  /** Whether a poll is useful: to open requests, to read ahead, or to suppress deliveries of a paused receiver. */
  canUsePoll(slots: number, concurrency: number): boolean {
    // Refill: less than a third of the read-ahead is left.
    const runsLow = this.#ahead.length * 3 < this.ahead(concurrency);
    return slots > 0 || runsLow || (this.paused && this.#underWay.size === 0);
  }

  /** Begins a poll. */
  poll(monotonic: number): void {
    this.apply('poll');
    this.#polledAt = monotonic;
    this.#begun.clear();
  }

  /** Exceptions of a poll: deliveries under way, and first attempts about a subject of which one is unanswered. */
  exceptions(): { readonly except: string[]; readonly exceptFirstOf: DueDelivery[] } {
    return { except: [...this.#underWay], exceptFirstOf: this.#subjects.unanswered };
  }

  /** Attempts to read ahead: as many as may begin before they are too old. */
  ahead(concurrency: number): number {
    if (this.paused) return 0;
    const each = Math.min(freshMs / this.#answerMs, aheadFactor);
    return Math.floor(requestsAtOnce(this.#health, concurrency) * each);
  }

  /**
   * Takes the result of a poll and drops what is left of the one before. Attempts may begin however long the poll took,
   * else a slow database would stop all.
   * @returns the ids of deliveries to end without an attempt
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
   * Takes first attempts right after their commit, in order, about subjects without an earlier event. Answers whether
   * it did; attempts that it did not take need a poll.
   * @param readAt time at which their subscriptions were read, on the monotonic clock
   */
  takeFresh(attempts: readonly ReadyAttempt[], readAt: number, monotonic: number): boolean {
    return !this.paused && this.mayAct(monotonic) && this.#handoffs.add(attempts, readAt);
  }

  /** Whether an attempt that was handed over has not begun. */
  get hasHandoffs(): boolean {
    return !this.#handoffs.isEmpty;
  }

  /** Whether an attempt that was found or handed over has not begun. */
  get hasReady(): boolean {
    return this.#ahead.length > 0 || this.hasHandoffs;
  }

  /** Next attempt that may begin: of those found while the poll is recent enough, else of those handed over. */
  next(monotonic: number): ReadyAttempt | undefined {
    if (monotonic > this.#freshUntil && this.#ahead.splice(0).length > 0) this.apply('wake');
    const index = this.#ahead.findIndex(({ delivery }) => !this.#subjects.holdsBack(delivery));
    if (index >= 0) return this.#ahead.splice(index, 1)[0];
    // Fairness: a slow receiver that was skipped polls before it takes what was handed over, else its retries starve.
    if (this.#state.turn === 'skipped' && this.#answerMs > freshMs / 2) return undefined;
    if (this.#handoffs.dropBefore(monotonic - freshMs)) this.apply('wake');
    return this.#handoffs.next(({ delivery }) => !this.#subjects.holdsBack(delivery));
  }

  /** Leaves the attempts that do not begin now. */
  leave(): void {
    if (this.#ahead.length > 0) this.apply('leave');
    // A poll suppresses the deliveries of a paused receiver.
    if (this.hasHandoffs && this.paused) this.apply('wake');
  }

  /** Counts a request that is opened. */
  begin({ delivery }: ReadyAttempt): void {
    this.#begun.add(delivery.id);
    this.#underWay.add(delivery.id);
    this.#subjects.begin(delivery);
    this.#open += 1;
  }

  /** Counts a request that was answered or failed. */
  answered({ delivery }: ReadyAttempt, durationMs: number): void {
    this.#answerMs = durationMs;
    this.#subjects.answered(delivery);
    this.#open -= 1;
    this.apply('ended');
  }

  /** Ends a delivery whose outcome is stored. */
  stored({ delivery }: ReadyAttempt): void {
    this.#underWay.delete(delivery.id);
    this.apply('ended');
  }
}
