import type { OutboundMessage } from '../../core/contracts/driver.ts';
import type { EventType } from '../../core/contracts/events.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { Tables, Unit } from '../../core/contracts/storage.ts';
import type { AccountStatus } from '../accounts/contract.ts';
import type { Contact } from '../contacts/contract.ts';
import type { Tenant } from '../tenants/contract.ts';

/** Which way a message went. */
export type Direction = 'inbound' | 'outbound';

/** What became of a message so far; `received` for inbound ones. */
export type MessageStatus = 'queued' | 'sent' | 'delivered' | 'read' | 'failed' | 'received';

/** The one media object of a message; unknown parts are null. */
export interface Media {
  readonly kind: 'image' | 'video' | 'audio' | 'document';
  /**
   * Outbound: the given address. Inbound: in rows and stored payloads a reference to the media store, see
   * `core/media-reference.ts`, of which a fresh address is made whenever it is shown; null when nothing is kept.
   */
  readonly url: string | null;
  readonly mime_type: string | null;
  readonly file_name: string | null;
  readonly size: number | null;
}

/** One row of `messages`. Times are milliseconds since the Unix epoch. */
export interface StoredMessage {
  readonly id: string;
  readonly tenantId: string;
  readonly accountId: string;
  readonly channel: string;
  readonly contactId: string;
  readonly direction: Direction;
  readonly text: string;
  readonly media: Media | null;
  readonly status: MessageStatus;
  readonly error: string | null;
  /** The network's id of it, once known. */
  readonly networkId: string | null;
  /** Outbound: the account's order of acceptance, from 1. Null for imported history. */
  readonly sequence: number | null;
  /** Live inbound: the tenant's order of arrival, from 1. Null for imported history. */
  readonly inboundSequence: number | null;
  /** The first message to a contact that had never written to the account. */
  readonly opener: boolean;
  /** Since when the network may know of it; null while it surely does not. */
  readonly dispatchedAt: number | null;
  /** How often it may have been handed to the network. */
  readonly attempts: number;
  /** The fence of the session that handed it over last. */
  readonly dispatchFence: number | null;
  readonly createdAt: number;
  readonly sentAt: number | null;
  readonly deliveredAt: number | null;
  readonly readAt: number | null;
  readonly failedAt: number | null;
}

/** What a message tells of its contact. */
export interface MessageContact {
  readonly id: string;
  /** Null where the network hides it. */
  readonly phone: string | null;
  /** Empty while unknown. */
  readonly name: string;
}

/** A message with its contact, for answers. */
export interface MessageWithContact extends StoredMessage {
  readonly contact: MessageContact;
}

/** A position in the list of messages: those older than it follow. */
export interface ListPosition {
  readonly createdAt: number;
  readonly id: string;
}

/** Which messages a list holds, newest first. */
export interface MessageFilter {
  readonly direction: Direction | null;
  readonly accountId: string | null;
  readonly before: ListPosition | null;
  readonly limit: number;
}

/** A queued message's place in its account's order. */
export interface QueuedPlace {
  readonly id: string;
  readonly sequence: number;
}

/** A newly accepted message's place, as the process that accepted it knows it. */
export interface AcceptedPlace extends QueuedPlace {
  /** What its session hands over at once, as the intent is stored with the acceptance; null where it is not. */
  readonly intended: OutboundMessage | null;
}

/** One row of `threads`: what passed between an account and a contact. */
export interface Thread {
  readonly accountId: string;
  readonly contactId: string;
  /** When the account's first message to a contact that had never written was accepted. */
  readonly openedAt: number | null;
  /** When the contact first wrote to the account. */
  readonly inboundAt: number | null;
}

/** A pair of an account and a contact. */
export type ThreadKey = Pick<Thread, 'accountId' | 'contactId'>;

/** A tenant as a send must know it. */
export type SendingTenant = Pick<Tenant, 'id' | 'mode' | 'plan' | 'status' | 'ramp'>;

/** An account as a send must know it. */
export interface SendingAccount {
  readonly id: string;
  readonly tenantId: string;
  readonly channel: string;
  readonly status: AccountStatus;
  /** Its credentials are complete: with status `connecting` it is reconnecting. */
  readonly linked: boolean;
  readonly rampDayOne: string | null;
  /** The number of its latest outbound message, 0 before the first. */
  readonly sequence: number;
}

/** A contact as a send must know it. */
export type SendingContact = Pick<
  Contact,
  'id' | 'tenantId' | 'channel' | 'phone' | 'networkId' | 'doNotDisturb' | 'private'
>;

/** Sends and new contacts of a tenant, or of an account, of one day. */
export interface DayCount {
  sends: number;
  newContacts: number;
}

/** Whom a send names: by phone, or by id. */
export interface Naming {
  readonly tenantId: string;
  /** Null where none was named. */
  readonly accountId: string | null;
  readonly contactId: string | null;
  /** Counts where there is no id. */
  readonly phone: string | null;
}

/** What there is to know of the account that a send names, and of its tenant. */
export interface AccountFacts {
  readonly tenant: SendingTenant;
  /** Null where none was named, and where the tenant has none of that id. */
  readonly account: SendingAccount | null;
  readonly tenantCount: DayCount;
  readonly accountCount: DayCount;
  /** The revision of the tenant's contacts: while it is the same, none of them has been changed and none has written. */
  readonly contactsAt: string;
}

/** What there is to know of what a send names. */
export interface SendingFacts extends AccountFacts {
  /** The id that was named, where that is an alias. */
  readonly alias: string | null;
  /** On whichever channel. */
  readonly contact: SendingContact | null;
  /** What passed between that contact and that account. */
  readonly thread: Thread | null;
  /** The contact has written so often that the loop guard must look closer. */
  readonly busy: boolean;
}

/** One answer kept for its Idempotency-Key. */
export interface IdempotencyRecord {
  readonly tenantId: string;
  /** SHA-256 of the key, hex. */
  readonly keyHash: string;
  /** SHA-256 of the canonical body, hex. */
  readonly bodyHash: string;
  readonly answer: Json;
  readonly createdAt: number;
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

/** Places of open long polls that were granted together, and are one row of `waits` until the last is given back. */
export interface HeldPlaces {
  readonly id: string;
  /** How many are held still. */
  readonly held: number;
}

/** One row of `waits`: open long polls of one tenant, on one process, that end together. */
export interface OpenPlaces extends HeldPlaces {
  readonly tenantId: string;
  readonly processId: string;
  /** When they end at the latest. */
  readonly endsAt: number;
}

/** The open waits of one tenant. */
export interface OpenWaits {
  readonly count: number;
  /** In how many milliseconds the first of them ends at the latest. */
  readonly firstEndsIn: number;
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
