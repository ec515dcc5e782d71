import type { OutboundMessage } from '../../core/contracts/driver.ts';
import type { EventType } from '../../core/contracts/events.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { Tables, Unit } from '../../core/contracts/storage.ts';
import type { QueuePosition } from './tables/messages.ts';

/** A newly accepted message's position in its queue, as the process that accepted it knows it. */
export interface AcceptedPosition extends QueuePosition {
  /** What its session hands over at once, as the intent is stored with the acceptance; null where it is not. */
  readonly intended: OutboundMessage | null;
}

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

/** The body of an event, exactly as it is signed and sent, and when the event was raised. */
export interface EventBody {
  readonly payload: string;
  readonly createdAt: number;
}

/** An event of a message, of which is known whether it is among the first that were raised about it. */
export interface RaisedEvent extends EventRecord {
  /** No earlier transaction has raised an event about its subject. */
  readonly first: boolean;
}

/** Puts events into the outbox, with COMMIT; it may fan them out in the same transaction. */
export type FanOut = (unit: Unit, events: readonly RaisedEvent[]) => Promise<void>;

/** Reads what the events of these tenants are fanned out by, behind the locks of the transaction that raises them. */
export type PrepareFanOut = (tables: Tables, tenantIds: readonly string[]) => Promise<FanOut>;

/** Where what becomes of sent messages is raised as events. In the container as `outbox`, in every process. */
export interface Outbox {
  /**
   * Has events fanned out as they are raised, instead of leaving them to be found. Called once, while booting, and in
   * every process: events about one message would else overtake those that wait.
   */
  fanOutWith(prepare: PrepareFanOut): void;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly outbox: Outbox;
  }
}

declare module '../../core/contracts/messages.ts' {
  interface Messages {
    /**
     * Forgets a contact, inside the transaction that makes it private and has its tenant locked: its undispatched
     * messages fail with `contact_private`, emptied and without an event; all others are deleted, and so are
     * the events of all of them with their deliveries. The media of what is deleted is deleted after the commit.
     */
    forgetContact(unit: Unit, tenantId: string, contactId: string): Promise<void>;
  }
}
