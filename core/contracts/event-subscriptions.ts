import type { EventType } from './events.ts';
import type { Json } from './json.ts';
import type { Unit } from './storage.ts';

/** An event as `GET /events` shows it. */
export interface EventView {
  readonly id: string;
  readonly type: EventType;
  /** ISO 8601 in UTC. */
  readonly created_at: string;
  /** Null for an event of no single account. */
  readonly account_id: string | null;
  /** The body that a webhook gets. */
  readonly payload: { readonly [name: string]: Json };
}

/** Context of a handler's call, beside the event. */
export interface EventContext {
  /** The tenant whose event it is: `{ tenantId }` is the caller of services. */
  readonly tenantId: string;
  /** Aborted when the gateway stops, or when another process may go on. */
  readonly signal: AbortSignal;
  /**
   * Moves the cursor past the event in a transaction of the plugin's own, with what it writes there. False: the event was
   * handled before, and nothing must be written again.
   */
  pass(unit: Unit): Promise<boolean>;
}

/** Handles one event. The cursor passes the event once this has resolved; what rejects is tried again. */
export type EventHandler = (event: EventView, context: EventContext) => Promise<void>;

/** The events of all tenants for plugins, `events` in the container. */
export interface EventSubscriptions {
  /**
   * Has a handler called with each event of every tenant, but for those about delivery itself, at least once, in order for
   * each tenant, in one process at a time. Called while booting, in every process. It begins with the events of the moment in which the name
   * was subscribed for the first time, and goes on behind its own cursor ever after. A handler that rejects is called
   * again after 1 s, 2 s, 4 s and so on up to a minute; meanwhile the later events of that tenant wait, and those of others
   * go on.
   * @param name unique, for ever: at most 90 characters
   * @throws Error when the name is taken
   */
  subscribe(name: string, handler: EventHandler): void;
}

declare module '../container.ts' {
  interface Cradle {
    readonly events: EventSubscriptions;
  }
}
