import type { EventHandler, EventView } from '../../../core/contracts/event-subscriptions.ts';
import { type EventType, eventTypes } from '../../../core/contracts/events.ts';
import { longestTransactionMs, type Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { type MintAddress, withFreshMedia } from '../../../core/media-reference.ts';
import { timestamp } from '../../../core/schemas.ts';
import type { Feed, ReadEvent } from '../feed/feed.ts';
import { moveCursorLane } from './lanes.ts';
import { TenantTurns } from './tenant-turns.ts';

/** Events of a tenant that are read at once. */
const pageSize = 100;

/** Maximum age of a page whose events are handed out: what was erased meanwhile is in it still. Milliseconds. */
const freshMs = 1_000;

/** Tenants whose events are handled at the same time. */
const tenantsAtOnce = 8;

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
  readonly #turns = new TenantTurns();

  constructor(parts: SubscriptionParts) {
    this.#parts = parts;
  }

  /** A tenant may have new events. */
  notify(tenantId: string): void {
    this.#turns.add(tenantId);
  }

  /** Handles events until the signal aborts; ends when no handler runs any more. */
  async run(signal: AbortSignal): Promise<void> {
    const { storage, name } = this.#parts;
    const since = (await storage.read.jobs.find([jobOf(name)]))[0]?.createdAt ?? 0;
    const running = new Set<Promise<void>>();
    let failed: unknown;
    while (!signal.aborted && failed === undefined) {
      try {
        for (const tenantId of await storage.read.eventCursors.behind(name)) {
          this.#turns.add(tenantId);
        }
      } catch (error) {
        // Handlers that run are waited for below: the job is given back when none does.
        failed = error;
        break;
      }
      const sweepAt = performance.now() + sweepMs;
      do {
        for (const tenantId of this.#turns.next(tenantsAtOnce - running.size)) {
          const work = this.#follow(tenantId, since, signal)
            .catch((error: unknown) => {
              failed = error;
            })
            .finally(() => {
              running.delete(work);
              this.#turns.done(tenantId);
            });
          running.add(work);
        }
      } while (
        !(await this.#turns.rest(signal, sweepAt)) &&
        !signal.aborted &&
        failed === undefined
      );
    }
    await Promise.all(running);
    if (failed !== undefined && !signal.aborted) throw failed;
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
        await handler(this.#view(event), {
          tenantId,
          signal,
          pass: (unit) => unit.eventCursors.pass(name, tenantId, sequence),
        });
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
