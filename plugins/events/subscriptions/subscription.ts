import { setTimeout as pause } from 'node:timers/promises';
import { doubled } from '../../../core/backoff.ts';
import type { EventHandler, EventView } from '../../../core/contracts/event-subscriptions.ts';
import { type EventType, eventTypes } from '../../../core/contracts/events.ts';
import { longestTransactionMs, type Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { type MintAddress, withFreshMedia } from '../../../core/media-reference.ts';
import { timestamp } from '../../../core/schemas.ts';
import { atMost } from '../../../core/waiting.ts';
import type { Feed, ReadEvent } from '../feed/feed.ts';
import { moveCursorLane } from './lanes.ts';
import { watchSlow } from './slow-handlers.ts';
import { TenantTurns } from './tenant-turns.ts';

/** Events of a tenant that are read at once. */
const pageSize = 100;

/** Maximum age of a page whose events are handed out: what was erased meanwhile is in it still. Milliseconds. */
const freshMs = 1_000;

/** Tenants whose events are handled at the same time, not counting slow ones. */
const tenantsAtOnce = 8;

/** How long handlers may take, milliseconds. */
export interface HandlerTimes {
  /** One that runs for longer is slow. */
  readonly slowMs: number;
  /** How long the end of a run waits for slow ones, which do not heed their signal. */
  readonly patienceMs: number;
}

const handlerTimes: HandlerTimes = { slowMs: 60_000, patienceMs: 10_000 };

const never = new AbortController().signal;

/** First and longest pause after a failure beside slow handlers, milliseconds. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** Pause between two polls for events that another process committed, milliseconds. */
const sweepMs = 2_000;

const nine: ReadonlySet<EventType> = new Set(eventTypes);

/** What a subscription works with. */
export interface SubscriptionParts {
  readonly storage: Pick<Storage, 'read' | 'submit' | 'now'>;
  readonly feed: Feed;
  readonly mint: MintAddress;
  readonly log: GatewayLog;
  readonly name: string;
  readonly handler: EventHandler;
}

/** One handler, and where it is in the feed of each tenant. Runs as a job: in one process at a time. */
export class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #times: HandlerTimes;
  readonly #turns = new TenantTurns();
  /** The turns of tenants that have begun and not ended. */
  readonly #running = new Set<Promise<void>>();
  /** Error of a turn or a read, until `run` takes it. */
  #failed: unknown;

  constructor(parts: SubscriptionParts, times = handlerTimes) {
    this.#parts = parts;
    this.#times = times;
  }

  /** A tenant may have new events. */
  notify(tenantId: string): void {
    this.#turns.add(tenantId);
  }

  /**
   * Handles events until the signal aborts; ends when no handler runs any more, but for slow ones whose tenants the next
   * run leaves out. A failure ends it, too, or is tried again here while a slow handler runs: another process would give
   * the same event to a second one.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { storage, log, name } = this.#parts;
    const since = (await storage.read.jobs.find([jobOf(name)]))[0]?.createdAt ?? 0;
    for (let failures = 1; ; failures += 1) {
      const begunAt = performance.now();
      await this.#takeTurns(since, signal);
      const error = this.#failed;
      this.#failed = undefined;
      if (signal.aborted) return await atMost(this.#times.patienceMs, Promise.all(this.#running));
      if (this.#running.size === 0) throw error;
      if (performance.now() - begunAt > longestPauseMs) failures = 1;
      log.error({ err: error, subscription: name, failures }, 'events could not be read or passed');
      const pauseMs = doubled(firstPauseMs, failures - 1, longestPauseMs);
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Handles events until the signal aborts or something fails; slow handlers alone run then. */
  async #takeTurns(since: number, signal: AbortSignal): Promise<void> {
    const { storage, name } = this.#parts;
    while (!signal.aborted && this.#failed === undefined) {
      try {
        for (const tenantId of await storage.read.eventCursors.behind(name)) {
          this.#turns.add(tenantId);
        }
      } catch (error) {
        this.#failed = error;
        break;
      }
      const sweepAt = performance.now() + sweepMs;
      do {
        for (const tenantId of this.#turns.next(tenantsAtOnce)) {
          const work = this.#follow(tenantId, since, signal)
            .catch((error: unknown) => {
              this.#failed = error;
            })
            .finally(() => {
              this.#running.delete(work);
              this.#turns.done(tenantId);
            });
          this.#running.add(work);
        }
      } while (
        !(await this.#turns.rest(signal, sweepAt)) &&
        !signal.aborted &&
        this.#failed === undefined
      );
    }
    while (this.#turns.taken > 0) await this.#turns.rest(never, performance.now() + sweepMs);
  }

  /**
   * Handles a page of a tenant's events until it is too old; what is behind waits for the next turn.
   * @throws GatewayError `unavailable`
   */
  async #follow(tenantId: string, since: number, signal: AbortSignal): Promise<void> {
    const { storage, feed, name } = this.#parts;
    const cursor = { subscription: name, tenantId };
    const after = await storage.read.eventCursors.find(name, tenantId);
    if (after === 0) await storage.submit(moveCursorLane, { ...cursor, sequence: 0 });
    const filter = { tenantId, types: nine, accounts: null, limit: pageSize };
    const freshUntil = performance.now() + freshMs;
    const page = await feed.page(filter, { after, since: null, at: 0 });
    const events = await this.#raisedSince(since, page.events);
    const { handled, end } = await this.#handle(tenantId, events, { signal, freshUntil });
    const isWhole = end === 'last' && !signal.aborted;
    const sequence = isWhole ? page.position.after : (handled ?? after);
    if (sequence > after) await storage.submit(moveCursorLane, { ...cursor, sequence });
    if (end === 'old' || (end === 'last' && page.hasMore)) this.#turns.add(tenantId);
  }

  /** Leaves out events from before a moment, but where a clock was set back since: the moment is ahead of the database's. */
  async #raisedSince(since: number, events: readonly ReadEvent[]): Promise<readonly ReadEvent[]> {
    const raised = events.filter(({ createdAt }) => createdAt >= since);
    if (raised.length === events.length) return events;
    const now = await this.#parts.storage.now();
    return since > now + longestTransactionMs ? events : raised;
  }

  /**
   * Handles events in order, until they are too old or a handler rejects; one at least, however long the read took.
   * Answers the number of the last one handled.
   */
  async #handle(
    tenantId: string,
    events: readonly ReadEvent[],
    { signal, freshUntil }: { readonly signal: AbortSignal; readonly freshUntil: number },
  ): Promise<{ readonly handled: number | null; readonly end: 'last' | 'old' | 'rejected' }> {
    const { handler, log, name } = this.#parts;
    let handled: number | null = null;
    for (const event of events) {
      if (signal.aborted) break;
      if (handled !== null && performance.now() >= freshUntil) return { handled, end: 'old' };
      const { sequence } = event;
      try {
        const work = handler(this.#view(event), {
          tenantId,
          signal,
          pass: (unit) => unit.eventCursors.pass(name, tenantId, sequence),
        });
        const fields = { subscription: name, tenant: tenantId, event: event.id };
        const onSlow = () => this.#turns.slow(tenantId);
        await watchSlow(work, { log, fields, slowMs: this.#times.slowMs, onSlow });
      } catch (error) {
        if (signal.aborted) break;
        const failures = this.#turns.hold(tenantId);
        const fields = { err: error, subscription: name, tenant: tenantId, event: event.id };
        log.error({ ...fields, failures }, 'an event was not handled; it is tried again');
        return { handled, end: 'rejected' };
      }
      this.#turns.passed(tenantId);
      handled = sequence;
    }
    return { handled, end: 'last' };
  }

  #view({ id, type, createdAt, accountId, payload }: ReadEvent): EventView {
    // Written as the text of a JSON object by whoever raised the event.
    const fresh: unknown = JSON.parse(withFreshMedia(payload, this.#parts.mint));
    return {
      id,
      type,
      created_at: timestamp(createdAt),
      account_id: accountId,
      payload: fresh as EventView['payload'],
    };
  }
}

/** The name of the job that runs a subscription. */
export function jobOf(subscription: string): string {
  return `events:${subscription}`;
}
