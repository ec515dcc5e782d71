/**
 * The outbox: events wait in it from the transaction that causes them until they are fanned out. Others record events by
 * `unit.events.record`, sessions by `Outbox.prepare`.
 */
import type { EventType } from '../../core/contracts/events.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { Tables, Unit } from '../../core/contracts/storage.ts';

/** An event as it is put into the outbox, in the transaction of the change that causes it. */
export interface EventRecord {
  readonly tenantId: string;
  readonly type: EventType;
  /** The id of the message or account that the event is about; the tenant's for a limit event. */
  readonly subject: string;
  /** The webhook's body. */
  readonly payload: Json;
  readonly at: number;
}

/** An event of a message, of which is known whether it is among the first that were raised about it. */
export interface RaisedEvent extends EventRecord {
  /** No earlier transaction has raised an event about its subject. */
  readonly first: boolean;
}

/** The body of an event, exactly as it is signed and sent, and when the event was raised. */
export interface EventBody {
  readonly payload: string;
  readonly createdAt: number;
}

/** Stores the events of one transaction, with COMMIT; it may fan them out in the same transaction. */
export type StoreEvents = (unit: Unit, events: readonly RaisedEvent[]) => Promise<void>;

/** Reads what the events of these tenants are fanned out by, behind the locks of the transaction that raises them. */
export type PrepareEvents = (tables: Tables, tenantIds: readonly string[]) => Promise<StoreEvents>;

/** The outbox of this process. In the container as `outbox`. */
export interface Outbox {
  /** Begins to store events of sent messages, which are fanned out as they are raised. */
  readonly prepare: PrepareEvents;
  /** Calls back after each commit of this process that left events to be fanned out; may be lost. For booting plugins. */
  onCommit(listener: () => void): void;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly outbox: Outbox;
    /**
     * Fans events out in the transaction that raises them, in every process: events about one message would else
     * overtake those that wait. The webhooks plugin provides it; ask the outbox.
     */
    readonly directFanOut: PrepareEvents;
  }
}
