/**
 * The contract of accounts and their sessions for other plugins: the states of an account, the registry
 * of drivers, and the listener by which the messages plugin takes part in a live session.
 */

import type {
  AddressEvent,
  ContactAddress,
  ContactsEvent,
  Driver,
  DriverAccount,
  DriverCapabilities,
  EndedReason,
  HistoryEvent,
  IdentityEvent,
  LinkMethod,
  LostReason,
  MessageEvent,
  OutboundMessage,
  ReceiptEvent,
  RefusedReason,
  Sent,
} from '../../core/contracts/driver.ts';
import type { Json } from '../../core/contracts/json.ts';
import type { Unit } from '../../core/contracts/storage.ts';
import type { LeaseToken } from '../cluster/contract.ts';
import type { ErasedAddress } from '../erasure/contract.ts';
import type { MediaAhead } from '../media/contract.ts';
import type { ownReasons } from './reasons.ts';

declare module '../../core/container.ts' {
  interface Cradle {
    readonly sessions: Sessions;
    readonly channels: ChannelRegistry;
  }
}

declare module '../../core/contracts/accounts.ts' {
  interface Accounts {
    /**
     * Restricts an account for safety, in a transaction of its own: status `restricted`, reason `safety_limits`,
     * the event, and a signal to its host. Answers false, and changes nothing, when it was not `connected`.
     * @param until milliseconds since the Unix epoch, by the database's clock; it is lifted then
     * @throws GatewayError `unavailable`
     */
    restrictForSafety(accountId: string, until: number): Promise<boolean>;
    /**
     * Deletes what the sessions of a tenant's accounts keep of an erased contact, stored credentials and memory alike,
     * but for what is about a contact that has come back to the address. Answers whether credentials were deleted: call
     * again until none were.
     * @throws GatewayError `unavailable`; Error when the process of a session does not answer, or no secret opens what
     * may be left
     */
    forget(tenantId: string, contact: ErasedAddress): Promise<boolean>;
  }
}

/** Live tenants use the channel's own driver; a test tenant's channels run on the simulated one. */
export type Mode = 'live' | 'test';

/** An account's public status; it changes only by `plugins/accounts/status.ts`. */
export type AccountStatus = 'connecting' | 'connected' | 'disconnected' | 'restricted';

/** The gateway's own reasons, beside those that a driver gives. */
export type OwnReason = (typeof ownReasons)[number];

/**
 * Why an account is in its status: the word of the driver or of the gateway, the same in the database, in every answer,
 * event, log line and metric. `docs/production.md` says what each means.
 */
export type AccountReason = LostReason | RefusedReason | EndedReason | OwnReason;

/** The options of the last connect operation. */
export interface ConnectOptions {
  readonly method: LinkMethod;
  readonly importContacts: boolean;
  readonly importHistory: boolean;
  /** Imported contacts start with automated replies paused. */
  readonly pauseAutomation: boolean;
  /** Imported contacts start as private. */
  readonly markPrivate: boolean;
}

/** A restriction to known contacts that is in force once the hold of the gateway ends. */
export interface CoveredRestriction {
  readonly reason: AccountReason;
  readonly detail: string;
  /** When it ends by itself; null when nobody knows. */
  readonly until: number | null;
}

/** The part of an account that its status transitions change. Times are milliseconds since the Unix epoch. */
export interface AccountState {
  readonly status: AccountStatus;
  readonly reason: AccountReason | null;
  /** A sentence for people, not null where there is a reason. */
  readonly detail: string | null;
  /** The moment that the network named for the next try; null when it named none. */
  readonly retryAt: number | null;
  /** The stored credentials are complete; with status `connecting` it is reconnecting, else pairing. */
  readonly linked: boolean;
  /** Which sends are forbidden: all, or those to new contacts. */
  readonly restriction: null | 'all' | 'new_contacts';
  readonly restrictionReason: AccountReason | null;
  readonly restrictionDetail: string | null;
  /** When the restriction ends by itself; null when nobody knows. */
  readonly restrictedUntil: number | null;
  /** When the hold of the gateway itself ends, also while a longer restriction of the network is shown; null without one. */
  readonly heldUntil: number | null;
  /** The network's restriction to known contacts while the hold of the gateway covers it; null without one. */
  readonly restrictionBehindHold: CoveredRestriction | null;
  /** `account.connected` was raised since the last connect operation. */
  readonly announced: boolean;
  /** Was connected at least once: counts against the plan's cap until removed. */
  readonly everConnected: boolean;
}

/** One open session as the messages plugin sees it; a new object each time the lease is won. */
export interface LiveSession {
  readonly account: DriverAccount;
  /** The lease that every write of the session checks; its `id` is that of the account. */
  readonly fence: LeaseToken;
  readonly capabilities: DriverCapabilities;
  /** The import flags of the last connect operation. */
  readonly connectOptions: ConnectOptions;
  readonly restriction: null | 'all' | 'new_contacts';
  readonly restrictionReason: AccountReason | null;
  /** When the restriction ends by itself; null when nobody knows. */
  readonly restrictedUntil: number | null;
  /** The network is there now. False while reconnecting, also when the status is `restricted`. */
  readonly connected: boolean;
  /**
   * Fetches the media of queued messages before they are sent; `send` uses it, and forgets it once the message is sent or
   * has failed for good.
   */
  readonly mediaAhead: MediaAhead;
  /** Aborted when the session closes, is fenced or stops. */
  readonly signal: AbortSignal;
  /**
   * Aborted when the driver's session ends. A change of proxy replaces that session while this one goes on: a new
   * signal is here then, and events of the former driver session do not come again.
   */
  readonly connection: AbortSignal;
  /** The local lease deadline, synchronous: when false nothing may go out. */
  mayAct(): boolean;
  /**
   * Sends through the driver; asks `mayAct` first. Settles at the latest when `signal` aborts.
   * @throws DriverError the driver's own, or `not_connected` (certain, retry at once when ready again),
   *   `session_closed` (uncertain: the session or its connection ended) or `driver_failed` (uncertain: the driver broke its contract)
   */
  send(message: OutboundMessage): Promise<Sent>;
  /** Shows a contact that the account is typing, where network and driver can. Never throws. Null: they cannot. */
  readonly typing: ((to: ContactAddress) => void) | null;
}

/** Receipts that came together, in their order. */
export interface Receipts {
  readonly type: 'receipts';
  readonly receipts: readonly ReceiptEvent[];
}

/** Listens to sessions and stores what they bring; handed to `Sessions.attach` while booting. */
export interface SessionListener {
  /** The lease was won and the session is about to connect or to be linked. */
  opened(session: LiveSession): void;
  /** Connected, or the restriction changed: queued messages are to be sent. */
  ready(session: LiveSession): void;
  /**
   * Resolves once what the driver has answered to sends is stored; sends without an answer are not awaited. Called once the
   * network has ended the link, before that end is stored, which waits two seconds at most: a send whose outcome is not
   * stored by then fails as `delivery_uncertain`.
   */
  storeAnswers(session: LiveSession): Promise<void> | void;
  /**
   * The session is over: `signal` is aborted. On a clean stop the lease is given away only once this has
   * resolved (or after two seconds), so that the outcome of a send that was under way can still be stored.
   */
  closed(session: LiveSession): Promise<void> | void;
  /** An envelope came `toHost` of an account that this process holds. */
  wake(accountId: string, envelope: Json): void;
  /** Called every few seconds and when the broker is ready again: read what no signal announced. */
  sweep(): void;
  /**
   * Resolves when durable. Called in the order of the events, one at a time for each kind; only of messages several are
   * under way at once, which the listener stores in the order of the calls. An event refused as `unavailable` comes
   * again, and none behind it may be stored before. A rejected event may come again; of receipts also stored ones.
   */
  receive(
    session: LiveSession,
    event: MessageEvent | Receipts | IdentityEvent | AddressEvent | ContactsEvent | HistoryEvent,
  ): Promise<void>;
  /** A message sent earlier, for a network that asks for it again; null when unknown. */
  sentMessage(session: LiveSession, reference: string): Promise<OutboundMessage | null>;
  /**
   * Fails the queued messages of an account that is removed or logged out: some in that very transaction, of many the rest
   * soon after it. None is sent any more, also by a link that comes next.
   * Called in any process, also one that hosts no sessions, with `lease:ACCOUNT` locked.
   */
  abandon(unit: Unit, accountId: string, reason: AccountReason): Promise<void>;
}

/** Takes the listeners of sessions. In the container as `sessions`, in every process. */
export interface Sessions {
  /** Called while booting, before the gateway is ready. */
  attach(listener: SessionListener): void;
}

/** The drivers, by channel and mode. Made by the drivers' plugin of `config/compose.ts`. */
export interface ChannelRegistry {
  /** Null: this channel is not there for this mode, which answers 403 `channel_not_enabled`. */
  driverOf(channel: string, mode: Mode): Driver | null;
  /** The names of all channels, in the order of the configuration. */
  channels(): readonly string[];
}
