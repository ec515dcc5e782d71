import type { Authenticator } from '../../../core/contracts/caller.ts';
import type { Clock } from '../../../core/contracts/clock.ts';
import type { Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { LongPoll, LongPolls } from '../../../core/long-poll.ts';
import type { GrantedSlot, PollSlots } from '../../messages/contract.ts';
import type { WantedPage } from './event-page.ts';
import type { Feed } from './feed.ts';
import type { FeedPage, FeedPosition } from './feed-page.ts';

/** One long poll for events. */
export interface EventPollRequest extends WantedPage {
  readonly keyId: string;
  readonly timeoutMs: number;
  /** Aborted when the client went away. */
  readonly signal: AbortSignal;
}

/** Dependencies of a process's polls. */
export interface EventPollsParts {
  readonly feed: Feed;
  readonly read: Pick<Storage['read'], 'feed'>;
  /** Asked for when the first poll comes. */
  slots(): PollSlots;
  readonly authenticator: Pick<Authenticator, 'isCurrent'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly log: GatewayLog;
}

class EventPoll extends LongPoll {
  /** The number behind which it reads; null before the first read. */
  after: number | null = null;
}

/**
 * The open long polls for events of this process. Each registers first, then reads, then sleeps, so that nothing which
 * commits meanwhile is missed. Only one that reads more than once takes a slot.
 */
export class EventPolls {
  readonly #parts: EventPollsParts;
  readonly #open: LongPolls<EventPoll>;

  constructor(parts: EventPollsParts) {
    const { read, authenticator, log } = parts;
    this.#parts = parts;
    this.#open = new LongPolls({
      ...{ authenticator, log },
      progress: async (tenantIds) => {
        const states = await read.feed.states(tenantIds);
        return ({ tenantId, after }) => {
          const { last = 0, hasFresh = false } = states.get(tenantId) ?? {};
          return hasFresh || last > (after ?? last);
        };
      },
    });
  }

  /** How many are open. For metrics and tests. */
  get size(): number {
    return this.#open.size;
  }

  /**
   * Waits until there is an event for the request, the time is over or the gateway stops.
   * @throws GatewayError `wait_concurrency`, `unauthorized` when the key is revoked meanwhile, `unavailable`
   */
  async wait(request: EventPollRequest): Promise<FeedPage> {
    const { feed, clock } = this.#parts;
    const deadline = clock.monotonic() + request.timeoutMs;
    const slots = this.#parts.slots();
    const poll = new EventPoll(request);
    const isOver = (): boolean => poll.ended || deadline <= clock.monotonic();
    let slot: GrantedSlot | null = null;
    this.#open.enter(poll);
    try {
      poll.noteRead();
      await slots.settle();
      let page = await feed.page(request, await this.#begin(request));
      poll.after = page.position.after;
      while (page.events.length === 0 && !isOver()) {
        slot ??= await slots.open({ ...request, deadline });
        if (!page.hasMore) await poll.sleep(deadline - clock.monotonic());
        poll.noteRead();
        page = await feed.page(request, page.position);
        poll.after = page.position.after;
      }
      if (slot === null) await slots.pass(request.tenantId);
      return page;
    } finally {
      this.#open.leave(poll);
      // Before the answer goes out, so that the client's next poll finds the slot free.
      if (slot !== null) await slots.giveBack(slot);
    }
  }

  /** Reads what there is. It never waits, so that it needs no slot. @throws GatewayError `unavailable` */
  async read(wanted: WantedPage): Promise<FeedPage> {
    return await this.#parts.feed.page(wanted, await this.#begin(wanted));
  }

  /** A tenant has new events. */
  wake(tenantId: string): void {
    this.#open.wake(tenantId);
  }

  /** Anything may have been missed. */
  rescan(): void {
    this.#open.rescan();
  }

  /** Ends all polls with what they have, and every later one at once. Called before the gateway stops. */
  stop(): void {
    this.#open.stop();
  }

  async #begin({ tenantId, position }: WantedPage): Promise<FeedPosition> {
    const { feed } = this.#parts;
    if (position === 'now') return await feed.now(tenantId);
    return position === 'oldest' ? feed.oldest() : position;
  }
}
