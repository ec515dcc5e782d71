import type { Clock } from '../../../core/contracts/clock.ts';
import { longestTransactionMs, type Storage } from '../../../core/contracts/storage.ts';
import { type FeedFilter, type FeedPage, type FeedPosition, pageOf } from './feed-page.ts';
import { numberedAtOnce, numberLane, passedAtOnce } from './number-lane.ts';

/** Events that a read with a filter goes through at most; without one it reads no more than it answers. */
const scannedAtOnce = 500;

/** For how long one read goes on passing over events from before its reader began, milliseconds. */
const passingMs = 1_000;

/** Reads a tenant's events in the order of their numbers, and gives numbers to those that have none yet. */
export class Feed {
  readonly #storage: Pick<Storage, 'read' | 'submit' | 'now'>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(storage: Pick<Storage, 'read' | 'submit' | 'now'>, clock: Pick<Clock, 'now'>) {
    this.#storage = storage;
    this.#clock = clock;
  }

  /** Before the oldest event that is kept. */
  oldest(): FeedPosition {
    return { after: 0, since: null, at: this.#clock.now() };
  }

  /**
   * Behind everything that is there now. Where that is too much to be numbered at once, the moment decides what is
   * passed over: a few events of the last seconds may then be shown although they were there, and none is left out.
   */
  async now(tenantId: string): Promise<FeedPosition> {
    const at = this.#clock.now();
    const { last, hasFresh } = await this.#state(tenantId);
    if (!hasFresh) return { after: last, since: null, at };
    // By the database's clock, as the times of events are.
    const moment = await this.#storage.now();
    const hasUnnumbered = await this.#giveNumbers(tenantId, numberedAtOnce);
    const { last: after } = await this.#state(tenantId);
    return { after, since: hasUnnumbered ? moment - longestTransactionMs : null, at };
  }

  /** The next events behind a position. */
  async page(filter: FeedFilter, position: FeedPosition): Promise<FeedPage> {
    const { tenantId } = filter;
    const deadline = performance.now() + passingMs;
    const first = await this.#readNumbered(filter, position, deadline);
    if (first.hasMore) return first;
    const at = this.#clock.now();
    const { last, hasFresh } = await this.#state(tenantId);
    // Another process may have numbered some since.
    if (!hasFresh && last <= first.position.after) return drained(first, at);
    const hasUnnumbered = hasFresh && (await this.#giveNumbersFor(tenantId, position, deadline));
    const from = first.events.length === 0 ? first.position : position;
    const page = await this.#readNumbered(filter, from, deadline);
    if (page.hasMore) return page;
    if (hasUnnumbered) return { ...page, hasMore: true };
    // Numbers whose events are gone are passed: each up to `last` was given before this page was read.
    const after = Math.max(page.position.after, last);
    return drained({ ...page, position: { ...page.position, after } }, at);
  }

  async #state(tenantId: string) {
    const states = await this.#storage.read.feed.states([tenantId]);
    return states.get(tenantId) ?? { last: 0, hasFresh: false };
  }

  /** Numbers so many events at most; answers whether some are left without one. */
  #giveNumbers(tenantId: string, most: number): Promise<boolean> {
    return this.#storage.submit(numberLane, { tenantId, most });
  }

  /** Numbers what a reader goes through next, or all that it can in time for one who passes over it. */
  async #giveNumbersFor(
    tenantId: string,
    { since }: FeedPosition,
    deadline: number,
  ): Promise<boolean> {
    if (since === null) return this.#giveNumbers(tenantId, numberedAtOnce);
    for (;;) {
      const hasUnnumbered = await this.#giveNumbers(tenantId, passedAtOnce);
      if (!hasUnnumbered || performance.now() >= deadline) return hasUnnumbered;
    }
  }

  /** Passes over numbered events from before the reader began; answers whether there may be more of them. */
  async #skipOlder(tenantId: string, { since, ...from }: FeedPosition, deadline: number) {
    let { after } = from;
    if (since === null) return { after, hasMore: false };
    for (;;) {
      const of = [tenantId, after, since, passedAtOnce] as const;
      const { count, last, wanted } = await this.#storage.read.feed.before(...of);
      if (wanted !== null) return { after: wanted - 1, hasMore: false };
      after = last ?? after;
      const hasMore = count === passedAtOnce;
      if (!hasMore || performance.now() >= deadline) return { after, hasMore };
    }
  }

  /** Reads the next events that have numbers. */
  async #readNumbered(
    filter: FeedFilter,
    position: FeedPosition,
    deadline: number,
  ): Promise<FeedPage> {
    const { tenantId, types, accounts, limit } = filter;
    const { after, hasMore } = await this.#skipOlder(tenantId, position, deadline);
    const from = { ...position, after };
    if (hasMore) return { events: [], position: from, hasMore };
    const isFiltered = types !== null || accounts !== null || position.since !== null;
    const most = isFiltered ? scannedAtOnce : limit;
    const found = await this.#storage.read.feed.after(tenantId, after, most + 1);
    return pageOf(found, most, filter, from);
  }
}

/** Nothing that was there at that moment is left: what commits from now on has a higher number. */
function drained({ events, position }: FeedPage, at: number): FeedPage {
  return { events, position: { after: position.after, since: null, at }, hasMore: false };
}
