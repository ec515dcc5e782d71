import type { EventHandler } from '../../../core/contracts/event-subscriptions.ts';
import { type EventType, eventTypes } from '../../../core/contracts/events.ts';
import { longestTransactionMs, type Storage } from '../../../core/contracts/storage.ts';
import type { GatewayLog } from '../../../core/log.ts';
import type { MintAddress } from '../../../core/media-reference.ts';
import { eventView } from '../event-view.ts';
import type { Feed } from '../feed/feed.ts';
import type { ReadEvent } from '../feed/feed-page.ts';
import { moveCursorLane } from './lanes.ts';
import { watchSlow } from './slow-handlers.ts';
import type { TenantTurns } from './tenant-turns.ts';

/** Events of a tenant that are read at once. */
const pageSize = 100;

/** Maximum age of a page whose events are handed out: what was erased meanwhile is in it still. Milliseconds. */
const freshMs = 1_000;

const tenantEventTypes: ReadonlySet<EventType> = new Set(eventTypes);

/** Dependencies of a subscription. */
export interface SubscriptionParts {
  readonly storage: Pick<Storage, 'read' | 'submit' | 'now'>;
  readonly feed: Feed;
  readonly mint: MintAddress;
  readonly log: GatewayLog;
  readonly name: string;
  readonly handler: EventHandler;
}

/** Handles the events of tenants a page at a time, and moves the cursor of each behind what was handled. */
export class TenantPages {
  readonly #parts: SubscriptionParts;
  readonly #turns: TenantTurns;
  readonly #slowMs: number;

  /** @param slowMs after how long a handler is slow */
  constructor(parts: SubscriptionParts, turns: TenantTurns, slowMs: number) {
    this.#parts = parts;
    this.#turns = turns;
    this.#slowMs = slowMs;
  }

  /**
   * Handles a page of a tenant's events until it is too old; what is behind waits for the next turn.
   * @throws GatewayError `unavailable`
   */
  async follow(tenantId: string, since: number, signal: AbortSignal): Promise<void> {
    const { storage, feed, name } = this.#parts;
    const cursor = { subscription: name, tenantId };
    const after = await storage.read.eventCursors.find(name, tenantId);
    const filter = { tenantId, types: tenantEventTypes, accounts: null, limit: pageSize };
    const freshUntil = performance.now() + freshMs;
    const page = await feed.page(filter, { after, since: null, at: 0 });
    // Not for a tenant without an event: the tenant may be deleted by now, and the row would stay for ever.
    if (after === 0 && page.position.after > 0) {
      await storage.submit(moveCursorLane, { ...cursor, sequence: 0 });
    }
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
    const { handler, log, mint, name } = this.#parts;
    let handled: number | null = null;
    for (const event of events) {
      if (signal.aborted) break;
      if (handled !== null && performance.now() >= freshUntil) return { handled, end: 'old' };
      const { sequence } = event;
      try {
        const work = handler(eventView(event, mint), {
          tenantId,
          signal,
          pass: (unit) => unit.eventCursors.pass(name, tenantId, sequence),
        });
        const fields = { subscription: name, tenant: tenantId, event: event.id };
        const onSlow = () => this.#turns.slow(tenantId);
        await watchSlow(work, { log, fields, slowMs: this.#slowMs, onSlow });
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
}
