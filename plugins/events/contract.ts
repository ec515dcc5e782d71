/**
 * Contract of the outbox: it stores events in the transaction that causes them, until they are fanned out. Lanes record
 * events by `unit.events.record`, those of the session and of received messages by `Outbox.prepare`.
 */
import type { Caller } from '../../core/contracts/caller.ts';
import type { EventType } from '../../core/contracts/events.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { Tables, Unit } from '../../core/contracts/storage.ts';

/** An event to record, in the transaction that causes it. */
export interface EventRecord {
  readonly tenantId: string;
  readonly type: EventType;
  /** Id of the message or account that the event is about; of the tenant for a limit event. */
  readonly subject: string;
  /** The webhook's body. */
  readonly payload: Json;
  readonly at: number;
  /** The `traceparent` of its message; null or absent without a trace. */
  readonly trace?: string | null;
}

/** An event of a message, with whether it is among the first about this message. */
export interface RaisedEvent extends EventRecord {
  /** Whether no earlier transaction has raised an event about the subject. */
  readonly first: boolean;
}

/** Body of an event, byte for byte as it is signed and sent, with the time of the event and its trace context. */
export interface EventBody {
  readonly payload: string;
  readonly createdAt: number;
  readonly trace: string | null;
}

/** Stores the events of one transaction with COMMIT; may fan them out in the same transaction. */
export type StoreEvents = (unit: Unit, events: readonly RaisedEvent[]) => Promise<void>;

/** Reads the subscriptions of tenants behind the locks of the transaction, and answers the function that stores. */
export type PrepareEvents = (tables: Tables, tenantIds: readonly string[]) => Promise<StoreEvents>;

/** The outbox of this process, `outbox` in the container. */
export interface Outbox {
  /** Prepares the storing of events of sent and received messages, which are fanned out in their own transaction. */
  readonly prepare: PrepareEvents;
  /** Subscribes to commits of this process that left events to fan out; a call may be lost. For booting plugins. */
  onCommit(listener: () => void): void;
}

/** Which events to read, as the query of `GET /events` says it. */
export interface EventPageQuery {
  readonly types: EventType;
  readonly account_id?: string;
  /** Without it, from now on. */
  readonly cursor?: string;
  readonly limit: number;
}

/** What `GET /events` answers. */
export interface EventPage {
  readonly events: readonly {
    readonly id: string;
    readonly type: string;
    readonly created_at: string;
    readonly payload: object;
  }[];
  readonly cursor: string;
  readonly has_more: boolean;
  readonly missed: boolean;
}

/** Reads events as `GET /events` does, but never waits, and needs no slot of the long polls. */
export interface EventPages {
  /** @throws GatewayError `invalid_cursor`, `invalid_event_type`, `unavailable` */
  read(caller: Caller, query: EventPageQuery): Promise<EventPage>;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly outbox: Outbox;
    readonly eventPages: EventPages;
    /**
     * Fan-out in the transaction that raises the events, in every process: otherwise events about one message would
     * overtake those that wait. Provided by the webhooks plugin; callers use the outbox.
     */
    readonly directFanOut: PrepareEvents;
  }
}
