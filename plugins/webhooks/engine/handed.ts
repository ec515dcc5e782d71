import type { Start } from './windows.ts';

/** For how long an id is remembered at least: longer than the answer to a COMMIT may take. */
const rememberedMs = 15_000;

interface Handed {
  readonly start: Start;
  /** When its subscription was read, on the monotonic clock. */
  readonly at: number;
}

/**
 * First attempts at one receiver that were handed over when they became durable, in order, until they begin or a look
 * has found them. All of one subject come together, and nothing about it was raised before.
 */
export class HandedOver {
  readonly #most: number;
  #waiting: Handed[] = [];
  /** What looks have found lately. COMMIT may be answered later than a look that shows what it stored. */
  #found = new Set<string>();
  #foundBefore = new Set<string>();
  #turnedAt = 0;

  /** @param most beyond this number nothing further is taken */
  constructor(most: number) {
    this.#most = most;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Takes them, unless too many wait or a look was faster. Answers whether it did: all or none. */
  take(starts: readonly Start[], at: number): boolean {
    const isKnown = ({ delivery: { id } }: Start): boolean =>
      this.#found.has(id) || this.#foundBefore.has(id);
    if (this.#waiting.length >= this.#most || starts.some(isKnown)) return false;
    this.#waiting.push(...starts.map((start) => ({ start, at })));
    return true;
  }

  /** Takes out the first that may begin. */
  next(mayBegin: (start: Start) => boolean): Start | undefined {
    const index = this.#waiting.findIndex(({ start }) => mayBegin(start));
    return index < 0 ? undefined : this.#waiting.splice(index, 1)[0]?.start;
  }

  /** Forgets those whose subscription was read before a moment; answers whether there were any. */
  dropBefore(moment: number): boolean {
    const before = this.#waiting.length;
    this.#waiting = this.#waiting.filter(({ at }) => at >= moment);
    return this.#waiting.length < before;
  }

  /**
   * A look has found these: of the subjects among them it is the look that knows the order.
   * @param ended the ids of those that it found and that are over without an attempt
   * @returns whether that leaves some out that the look has not found
   */
  giveWay(found: readonly Start[], ended: readonly string[], monotonic: number): boolean {
    if (monotonic - this.#turnedAt > rememberedMs) {
      this.#foundBefore = this.#found;
      this.#found = new Set();
      this.#turnedAt = monotonic;
    }
    for (const { delivery } of found) this.#found.add(delivery.id);
    for (const id of ended) this.#found.add(id);
    const subjects = new Set(found.map(placeOf));
    const isOver = (start: Start) =>
      subjects.has(placeOf(start)) || ended.includes(start.delivery.id);
    const given = this.#waiting.filter(({ start }) => isOver(start));
    if (given.length === 0) return false;
    this.#waiting = this.#waiting.filter(({ start }) => !isOver(start));
    return given.some(({ start }) => !this.#found.has(start.delivery.id));
  }
}

function placeOf({ delivery: { webhookId, subject } }: Start): string {
  return `${webhookId} ${subject}`;
}
