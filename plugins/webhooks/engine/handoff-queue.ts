import type { ReadyAttempt } from './due-batches.ts';

/** Minimum time for which a found id is remembered: longer than the answer to a COMMIT may take. */
const rememberedMs = 15_000;

interface Handoff {
  readonly attempt: ReadyAttempt;
  /** Time at which the subscription was read, on the monotonic clock. */
  readonly at: number;
}

/**
 * FIFO of first attempts at one receiver that were handed over after their commit, kept until they begin or a poll
 * has found them. All of one subject come together, and nothing about it was raised before.
 */
export class HandoffQueue {
  readonly #most: number;
  #waiting: Handoff[] = [];
  /** Ids that recent polls have found: a late answer to COMMIT hands a delivery over after a poll has found it. */
  #found = new Set<string>();
  #foundBefore = new Set<string>();
  #turnedAt = 0;

  /** @param most deliveries in the queue; a full queue takes no more */
  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Adds all or none; answers whether it did. None when the queue is full or a poll was faster. */
  add(attempts: readonly ReadyAttempt[], at: number): boolean {
    const wasFound = ({ delivery: { id } }: ReadyAttempt): boolean =>
      this.#found.has(id) || this.#foundBefore.has(id);
    if (this.#waiting.length >= this.#most || attempts.some(wasFound)) return false;
    this.#waiting.push(...attempts.map((attempt) => ({ attempt, at })));
    return true;
  }

  /** Removes and answers the first attempt that may begin. */
  next(mayBegin: (attempt: ReadyAttempt) => boolean): ReadyAttempt | undefined {
    const index = this.#waiting.findIndex(({ attempt }) => mayBegin(attempt));
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0]?.attempt;
  }

  /** Drops attempts whose subscription was read before a moment; answers whether there were any. */
  dropBefore(moment: number): boolean {
    const before = this.#waiting.length;
    this.#waiting = this.#waiting.filter(({ at }) => at >= moment);
    return this.#waiting.length < before;
  }

  /**
   * Drops the subjects that a poll has found, as the poll has them in order.
   * @param ended ids that the poll found and that end without an attempt
   * @returns whether the poll did not find some of the dropped attempts
   */
  dropFound(found: readonly ReadyAttempt[], ended: readonly string[], monotonic: number): boolean {
    if (monotonic - this.#turnedAt > rememberedMs) {
      this.#foundBefore = this.#found;
      this.#found = new Set();
      this.#turnedAt = monotonic;
    }
    for (const { delivery } of found) this.#found.add(delivery.id);
    for (const id of ended) this.#found.add(id);
    const subjects = new Set(found.map(subjectKey));
    const isOver = ({ attempt }: Handoff) =>
      subjects.has(subjectKey(attempt)) || ended.includes(attempt.delivery.id);
    const dropped = this.#waiting.filter(isOver);
    if (dropped.length === 0) return false;
    this.#waiting = this.#waiting.filter((one) => !isOver(one));
    return dropped.some(({ attempt }) => !this.#found.has(attempt.delivery.id));
  }
}

function subjectKey({ delivery: { webhookId, subject } }: ReadyAttempt): string {
  return `${webhookId} ${subject}`;
}
