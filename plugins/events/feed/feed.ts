import type { Clock } from '../../../core/contracts/clock.ts';
import type { EventType } from '../../../core/contracts/events.ts';
import { longestTransactionMs, type Storage } from '../../../core/contracts/storage.ts';
import { isWanted, type WantedAccounts } from '../../../core/scopes.ts';
import type { FeedEvent } from '../tables/feed.ts';
import { numberedAtOnce, numberLane, passedAtOnce } from './number-lane.ts';

/** Events that a read with a filter goes through at most; without one it reads no more than it answers. */
const scannedAtOnce = 500;

/** For how long one read goes on passing over events from before its reader began, milliseconds. */
const passingMs = 1_000;

/** Where a reader is. */
export interface FeedPosition {
  /** The number of the last event that it has passed. */
  readonly after: number;
  /** Events from before this moment are passed over, until all that were there at the start have a number; else null. */
  readonly since: number | null;
  /** About the time of what it has passed: what is not kept any more was passed unless it is younger. */
  readonly at: number;
}

/** Which events a reader wants. */
export interface FeedFilter {
  readonly tenantId: string;
  /** Null for all. */
  readonly types: ReadonlySet<EventType> | null;
  /** Null for all accounts, and for events of none. */
  readonly accounts: WantedAccounts;
  /** The most events of one page. */
  readonly limit: number;
}

/** An event with the account that its payload names. */
export interface ReadEvent extends FeedEvent {
  readonly accountId: string | null;
}

/** What one read found, oldest first, and where the next one goes on. */
export interface FeedPage {
  readonly events: readonly ReadEvent[];
  readonly position: FeedPosition;
  /** Whether there is more to read at once. */
  readonly hasMore: boolean;
}

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
    const isLeft = await this.#number(tenantId, numberedAtOnce);
    const { last: after } = await this.#state(tenantId);
    return { after, since: isLeft ? moment - longestTransactionMs : null, at };
  }

  /** The next events behind a position. */
  async page(filter: FeedFilter, position: FeedPosition): Promise<FeedPage> {
    const { tenantId } = filter;
    const until = performance.now() + passingMs;
    const first = await this.#numbered(filter, position, until);
    if (first.hasMore) return first;
    const at = this.#clock.now();
    const { last, hasFresh } = await this.#state(tenantId);
    // Another process may have numbered some since.
    if (!hasFresh && last <= first.position.after) return drained(first, at);
    const isLeft = hasFresh && (await this.#numberFor(tenantId, position, until));
    const behind = first.events.length === 0 ? first.position : position;
    const page = await this.#numbered(filter, behind, until);
    if (page.hasMore) return page;
    if (isLeft) return { ...page, hasMore: true };
    // Numbers whose events are gone are passed: each up to `last` was given before this page was read.
    const after = Math.max(page.position.after, last);
    return drained({ ...page, position: { ...page.position, after } }, at);
  }

  async #state(tenantId: string) {
    const states = await this.#storage.read.feed.states([tenantId]);
    return states.get(tenantId) ?? { last: 0, hasFresh: false };
  }

  #number(tenantId: string, most: number): Promise<boolean> {
    return this.#storage.submit(numberLane, { tenantId, most });
  }

  /** Numbers what a reader goes through next, or all that it can until then for one who passes over it. */
  async #numberFor(tenantId: string, { since }: FeedPosition, until: number): Promise<boolean> {
    if (since === null) return this.#number(tenantId, numberedAtOnce);
    let isLeft = await this.#number(tenantId, passedAtOnce);
    while (isLeft && performance.now() < until) isLeft = await this.#number(tenantId, passedAtOnce);
    return isLeft;
  }

  /** Passes over numbered events from before the reader began; answers whether there may be more of them. */
  async #pass(tenantId: string, { since, ...from }: FeedPosition, until: number) {
    let { after } = from;
    if (since === null) return { after, isCut: false };
    for (;;) {
      const of = [tenantId, after, since, passedAtOnce] as const;
      const { count, last, wanted } = await this.#storage.read.feed.before(...of);
      if (wanted !== null) return { after: wanted - 1, isCut: false };
      after = last ?? after;
      const isCut = count === passedAtOnce;
      if (!isCut || performance.now() >= until) return { after, isCut };
    }
  }

  async #numbered(filter: FeedFilter, position: FeedPosition, until: number): Promise<FeedPage> {
    const { tenantId, types, accounts, limit } = filter;
    const { since } = position;
    const { after, isCut: isPassing } = await this.#pass(tenantId, position, until);
    if (isPassing) return { events: [], position: { ...position, after }, hasMore: true };
    const isFiltered = types !== null || accounts !== null || since !== null;
    const most = isFiltered ? scannedAtOnce : limit;
    const found = await this.#storage.read.feed.after(tenantId, after, most + 1);
    const scanned = found.slice(0, most);
    const wanted = scanned
      .filter(({ type, createdAt }) => (types?.has(type) ?? true) && createdAt >= (since ?? 0))
      .map((event) => ({ ...event, accountId: accountOf(event.payload) }))
      .filter((event) => isWanted(accounts, event.accountId));
    const isCut = wanted.length > limit;
    const events = wanted.slice(0, limit);
    const last = isCut ? events.at(-1) : scanned.at(-1);
    return {
      events,
      position: { since, after: last?.sequence ?? after, at: last?.createdAt ?? position.at },
      hasMore: isCut || found.length > most,
    };
  }
}

/** Nothing that was there at that moment is left: what commits from now on has a higher number. */
function drained({ events, position }: FeedPage, at: number): FeedPage {
  return { events, position: { after: position.after, since: null, at }, hasMore: false };
}

function accountOf(payload: string): string | null {
  // Written as the text of a JSON object by whoever raised the event.
  const { account_id: accountId } = JSON.parse(payload) as { readonly account_id?: unknown };
  return typeof accountId === 'string' ? accountId : null;
}
