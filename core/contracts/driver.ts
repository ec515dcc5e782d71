/**
 * The contract between the gateway and the code that speaks to one network. Two sides: `Driver` and
 * `Session` are called by the gateway, `Port` is called by the driver. `test/contract/driver.ts`
 * exercises every clause, so a driver that passes it can be plugged in.
 */
import type { Readable } from 'node:stream';

/**
 * Makes a driver from its options: the default export of a driver package. Called once at start for each channel
 * that names it; may throw, which leaves that channel off.
 */
export interface DriverFactory {
  (context: DriverContext): Driver | Promise<Driver>;
  /**
   * JSON Schema of the options. Where there is one, options that do not fit leave the channel off with an error that
   * names the field, and its defaults are filled in before the driver is made.
   */
  readonly optionsSchema?: object;
}

/** What a driver is given when it is made. */
export interface DriverContext {
  /** The channel's or driver's options from the configuration; what no schema has checked the driver checks itself. */
  readonly options: Readonly<Record<string, unknown>>;
  /** A folder of its own for what must not be lost with the process, or null. */
  readonly dataDir: string | null;
  readonly log: DriverLog;
}

/** Structured log lines. Never hand it a key, a code, a password or a message's text. */
export interface DriverLog {
  debug(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** What a network can do, declared once; the gateway and the contract suite go by it. */
export interface DriverCapabilities {
  /** A send repeated with the same reference is shown once. Without it an uncertain send is never repeated. */
  readonly deduplicates: boolean;
  /** The network reports delivery apart from reading. */
  readonly deliveredReceipts: boolean;
  /** `any_phone`: a message can go to any number. `contacts`: only to a known contact. */
  readonly recipients: 'any_phone' | 'contacts';
  /** How an account is linked; the first is the default. */
  readonly linkMethods: readonly [LinkMethod, ...LinkMethod[]];
  /** What can be imported at the first connection. */
  readonly imports: { readonly contacts: boolean; readonly history: boolean };
  /** Messages can carry one media object. */
  readonly media: boolean;
  /** False: the network never stops an account from sending, so that it is never `restricted`. Default: true. */
  readonly restrictions?: boolean;
}

/** A way to link an account. The four known ones; a driver may bring others. */
export type LinkMethod = 'qr' | 'pairing_code' | 'code' | 'password' | (string & {});

/** What an account of a network is called by, where that is not a phone number. */
export interface IdentifierRule {
  /** What to ask the user for, such as `an XMPP address, name@host`. */
  readonly description: string;
  /**
   * The identifier in the one form in which it is stored, or null when the text is none. Pure, and gives back
   * unchanged what it has answered itself. At most 100 characters, none of them a control character.
   */
  parse(text: string): string | null;
}

/** One network's code for one channel, in one process. */
export interface Driver {
  readonly capabilities: DriverCapabilities;
  /** Absent: accounts are phone numbers in E.164 format, with their `+`. */
  readonly identifier?: IdentifierRule;
  /**
   * Makes the session object of one account. Does no I/O and never throws.
   * Called when the gateway has won the account's lease; at most one session an account is open.
   */
  open(account: DriverAccount, port: Port): Session;
  /** Frees what all sessions share. Called once, after every session was closed. */
  close?(): Promise<void>;
}

/** The account a session belongs to. */
export interface DriverAccount {
  /** `acc_…`, stable for as long as the record lives. */
  readonly id: string;
  readonly tenantId: string;
  readonly channel: string;
  /** E.164 with `+`, or as `Driver.identifier` has parsed it. */
  readonly identifier: string;
}

/** How the user wants the account linked. */
export interface LinkRequest {
  readonly method: LinkMethod;
  readonly importContacts: boolean;
  readonly importHistory: boolean;
}

/** Something the user does or sees while an account is being linked. Data, for any user interface. */
export type LinkStep =
  /** Show this text as a QR code; a new step follows when the network renews it. */
  | {
      readonly type: 'show_qr';
      readonly data: string;
      readonly token: string | null;
      readonly expiresAt: number;
    }
  /** Show this code, to be typed on the phone. */
  | { readonly type: 'show_code'; readonly code: string; readonly expiresAt: number }
  /** Ask the user for a value and hand it to `answer`. */
  | { readonly type: 'ask'; readonly field: 'code' | 'password' }
  /** The last QR code or pairing code ran out; only a new `link` brings another. */
  | { readonly type: 'expired' };

/** One account's live link to its network. */
export interface Session {
  /**
   * Begins linking from scratch: credentials of an earlier link are discarded. Resolves once begun and
   * never rejects; steps and the outcome come through `port.emit`. Success is the state `connected`, an
   * unreachable network the state `lost`, a refusal the state `refused`.
   */
  link(request: LinkRequest): Promise<void>;
  /**
   * Hands in the value that an `ask` step wants. Resolves to whether the network took it; the next step
   * or the state `connected` was emitted before. A value that is not taken leaves the step open.
   * @throws DriverError when the network could not be asked
   */
  answer(field: 'code' | 'password', value: string): Promise<AnswerOutcome>;
  /**
   * Reconnects from stored credentials, one attempt. Resolves once begun and never rejects: the outcome is
   * a state event, `connected`, `lost` or `logged_out`. After `lost` the gateway calls it again, later and
   * later; the driver does not reconnect by itself.
   */
  resume(): Promise<void>;
  /**
   * Sends one message and answers once the network has taken it. The gateway calls it in the order of
   * acceptance and only while connected, one at a time for each account. It may be called again with the same reference
   * after a crash or a lost connection.
   * @param signal aborted when the session is about to close or the lease ran out: reject, certain or not
   * @throws DriverError
   */
  send(message: OutboundMessage, signal: AbortSignal): Promise<Sent>;
  /**
   * Ends the link on the network's side too. Resolves when done or after a short try; never rejects.
   * `still_linked`: the network did not hear of it, so the user has to unlink the device there.
   */
  logOut(): Promise<'unlinked' | 'still_linked'>;
  /**
   * Cuts the connection at once without logging out: after it returns no byte goes out and no event is
   * emitted. Synchronous, idempotent, never throws.
   */
  close(): void;
}

/** What became of a value that was handed in. */
export type AnswerOutcome =
  | { readonly accepted: true }
  /** `detail`: a sentence for people, what was wrong with the value and what to do next. */
  | { readonly accepted: false; readonly detail: string };

/** A message on its way out. */
export interface OutboundMessage {
  /** The gateway's message id, to be used as the network's de-duplication key. */
  readonly reference: string;
  /** 1 for the first try, higher when it may have been sent before. */
  readonly attempt: number;
  readonly to: ContactAddress;
  readonly text: string;
  readonly media: OutboundMedia | null;
}

/** How a contact is known to the network. At least one of the two is not null. */
export interface ContactAddress {
  readonly phone: string | null;
  /** The network's opaque id, as the driver reported it. */
  readonly networkId: string | null;
}

/** Media to send: an address that the driver never fetches itself, see `Port.fetchMedia`. */
export interface OutboundMedia {
  readonly url: string;
}

/** What kind of media a message carries. */
export type MediaKind = 'image' | 'video' | 'audio' | 'document';

/** Media that the gateway fetched for a driver; already within the limits on size and type. */
export interface MediaFile {
  readonly kind: MediaKind;
  /** Without parameters, for example `image/png`. */
  readonly mimeType: string;
  readonly fileName: string;
  /** In bytes, exactly what `stream` gives. */
  readonly size: number;
  /** The bytes from the start; a new stream at every call. */
  stream(): Readable;
}

/** The network's answer to a send. */
export interface Sent {
  /** The network's id of the message; receipts may come with it. */
  readonly networkId: string;
  /** When the network took it, milliseconds since the Unix epoch. */
  readonly at: number;
}

/** Marks the errors of every copy of this module: a driver package may have one of its own. */
const mark = Symbol.for('messaging-gateway.DriverError');

/** Why a send, or an answer, did not work out. */
export class DriverError extends Error {
  /** Holds for the errors of another copy too. */
  static override [Symbol.hasInstance](value: unknown): value is DriverError {
    return typeof value === 'object' && value !== null && mark in value;
  }
  /** Stable, lower case with underscores; the first word of the message's `error`. */
  readonly code: string;
  /** True when the network surely did not take the message. */
  readonly certain: boolean;
  /** Not null: try again after this many milliseconds; the message keeps its place in the queue. */
  readonly retryAfterMs: number | null;
  readonly [mark] = true;
  constructor(
    code: string,
    message: string,
    options: { certain: boolean; retryAfterMs?: number | null; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.name = 'DriverError';
    this.code = code;
    this.certain = options.certain;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** The gateway as one session sees it. */
export interface Port {
  /**
   * Tells the gateway what happened. Resolves once the event is durable: only then acknowledge it to the
   * network. Events are taken in the order in which `emit` is called; while the database is away they wait. Rejects
   * when the session has been closed or fenced, or the event could not be kept: then do not acknowledge, the
   * network will offer it again.
   */
  emit(event: DriverEvent): Promise<void>;
  /** The account's credentials. */
  readonly credentials: CredentialStore;
  /**
   * The text and media of a message sent earlier, for a far side that asks for it again.
   * Null when unknown.
   */
  sentMessage(reference: string): Promise<OutboundMessage | null>;
  /**
   * Fetches what is to be sent: only from addresses that are allowed, within the limits on size, time and type.
   * The file lives until the signal aborts or the send for which it was fetched has settled.
   * @throws DriverError `media_unavailable`, `media_too_large`, `media_type_not_allowed` or `media_url_not_allowed`;
   *   always certain, and with a time to try again when that may help
   */
  fetchMedia(media: OutboundMedia, signal: AbortSignal): Promise<MediaFile>;
  /** Counts something that the network brought and that is no message: acknowledged, and left out. Never throws. */
  leftOut(kind: LeftOutKind): void;
  readonly log: DriverLog;
}

/** Kinds of what a network brings that are no messages: a closed set, since each is the label of a metric. */
export const leftOutKinds = [
  'reaction',
  'edit',
  'deletion',
  'call',
  'status_post',
  'group',
  'protocol',
  /** A message that came without its content, which could not be fetched in the end. */
  'unreadable',
] as const;
export type LeftOutKind = (typeof leftOutKinds)[number];

/** What can happen to a session. */
export type DriverEvent =
  | { readonly type: 'step'; readonly step: LinkStep }
  | StateEvent
  | MessageEvent
  | ReceiptEvent
  | IdentityEvent
  | ContactsEvent
  | HistoryEvent;

/** The network has stopped the account; the word says which network. */
export const blockedReasons = [
  'blocked_by_msgapp',
  'blocked_by_chatapp',
  'blocked_by_network',
] as const;
export type BlockedReason = (typeof blockedReasons)[number];

/** What keeps a session from its network for now; it is tried again. */
export const lostReasons = [
  'network_unreachable',
  'rate_limited',
  'version_refused',
  'misconfigured',
  'conflict',
  'driver_failed',
  'stalled',
] as const;
export type LostReason = (typeof lostReasons)[number];

/** Why a login came to nothing. */
export const refusedReasons = [
  'login_refused',
  /** Another number than the account's was linked. */
  'wrong_phone',
  'no_such_number',
  'rate_limited',
  'misconfigured',
  'version_refused',
  ...blockedReasons,
] as const;
export type RefusedReason = (typeof refusedReasons)[number];

/** Why a link is gone for good. `session_lost` is only said of a session that was there. */
export const endedReasons = ['logged_out', 'replaced', 'session_lost'] as const;
export type EndedReason = (typeof endedReasons)[number];

/**
 * Why a session is as it is, as users read it: nobody on the way drops or renames it.
 * decisions: "Reasons".
 */
export interface Cause<Reason extends string> {
  readonly reason: Reason;
  /** A sentence for people: what happened, and what to do next. No number in full, no code, no key. */
  readonly detail: string;
}

/** The session's own condition. The gateway decides the account's public status from it. */
export type StateEvent =
  /**
   * Linked and live, after `link`, `answer` or `resume`. `credentials` must be complete before it is emitted, and the
   * linked identity is the account's `identifier`: another one is `refused` as `wrong_phone`, and unlinked.
   */
  | { readonly type: 'state'; readonly state: 'connected' }
  /** The connection broke or could not be made; trying again may help. */
  | (Cause<LostReason> & {
      readonly type: 'state';
      readonly state: 'lost';
      /** When the network wants to be asked again, milliseconds since the Unix epoch; null: the gateway decides. */
      readonly retryAt: number | null;
    })
  /** The network stopped this account from sending: to all, or only to new contacts; `until` null when unknown. */
  | (Cause<BlockedReason> & {
      readonly type: 'state';
      readonly state: 'restricted';
      readonly scope: 'all' | 'new_contacts';
      readonly until: number | null;
    })
  /** A restriction ended. */
  | { readonly type: 'state'; readonly state: 'unrestricted' }
  /** The link is gone for good; only a new `link` helps. */
  | (Cause<EndedReason> & { readonly type: 'state'; readonly state: 'logged_out' })
  /** The login that was under way came to nothing. Nobody is linked, on the network's side either. */
  | (Cause<RefusedReason> & {
      readonly type: 'state';
      readonly state: 'refused';
      /** When a new login may be tried, milliseconds since the Unix epoch; null: at once, or nobody knows. */
      readonly retryAt: number | null;
    });

/** A contact wrote to the account. */
export interface MessageEvent {
  readonly type: 'message';
  /** The network's id; a repeated one is the same message. */
  readonly networkId: string;
  readonly from: DriverContact;
  readonly text: string;
  readonly media: InboundMedia | null;
  /** When it was written, milliseconds since the Unix epoch. */
  readonly at: number;
}

/** A contact as the network knows it. */
export interface DriverContact extends ContactAddress {
  readonly name: string | null;
}

/**
 * What the network tells of somebody who may be a contact: that a phone and a network id are one person, or that the
 * name has changed. Makes no contact, but for a phone that was another's; two that turn out to be one person become one.
 * Phone and network id are those of this moment.
 */
export interface IdentityEvent extends DriverContact {
  readonly type: 'identity';
}

/** What a message brought with it. Fetched only after the gateway decided to keep the message. */
export interface InboundMedia {
  readonly kind: MediaKind;
  readonly mimeType: string | null;
  readonly fileName: string | null;
  readonly size: number | null;
  /** An address that anybody can fetch, when the network has one. */
  readonly url: string | null;
  /**
   * Opens the bytes, for a network whose media only its own client can read; absent when there is a `url` or
   * nothing to read. Called at most once, while `emit` of the message is pending. May reject: the message is
   * then kept without its bytes.
   */
  readonly open?: (signal: AbortSignal) => Promise<Readable>;
}

/** The network reports how far a sent message got. Names it by reference, network id or both. */
export interface ReceiptEvent {
  readonly type: 'receipt';
  readonly reference: string | null;
  readonly networkId: string | null;
  readonly status: 'sent' | 'delivered' | 'read' | 'failed';
  /** Why, when failed: a code in lower case, a sentence, `code: sentence`, or null. */
  readonly error: string | null;
  readonly at: number;
}

/** Contacts of the account: imported at connect or changed later. */
export interface ContactsEvent {
  readonly type: 'contacts';
  readonly contacts: readonly DriverContact[];
}

/** Messages from before the account was connected. */
export interface HistoryEvent {
  readonly type: 'history';
  readonly messages: readonly HistoryMessage[];
}

/** One message of the past. */
export interface HistoryMessage {
  readonly networkId: string;
  readonly direction: 'inbound' | 'outbound';
  readonly contact: DriverContact;
  readonly text: string;
  readonly media: InboundMedia | null;
  readonly at: number;
}

/**
 * The account's credentials: an opaque key-value store, encrypted at rest. Every call is fenced by the
 * session's lease: one that lost it cannot write.
 */
export interface CredentialStore {
  get(names: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** Writes all of them or none; null deletes a name. */
  set(values: Readonly<Record<string, string | null>>): Promise<void>;
  /** Deletes everything of this account. */
  clear(): Promise<void>;
}
