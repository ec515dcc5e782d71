/**
 * The contract between the gateway and the code that speaks to one network. Two sides: `Driver` and
 * `Session` are called by the gateway, `Port` is called by the driver. `testing/contract/driver.ts`
 * exercises every clause, so a driver that passes it can be plugged in.
 */
import type { AddressRule, DriverCapabilities, IdentifierRule } from './driver-capabilities.ts';
import type { DriverEvent } from './driver-events.ts';
import type { AnswerOutcome, LinkRequest } from './driver-linking.ts';
import type {
  ContactAddress,
  MediaFile,
  OutboundMedia,
  OutboundMessage,
  Sent,
} from './driver-messages.ts';
import type { ProxyAddress } from './driver-proxy.ts';

export * from './driver-capabilities.ts';
export { type Concern, DriverError } from './driver-error.ts';
export * from './driver-events.ts';
export * from './driver-linking.ts';
export * from './driver-messages.ts';
export { type ProxyAddress, proxyUrl } from './driver-proxy.ts';
export * from './driver-reasons.ts';

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

/** Context of a driver, given when it is made. */
export interface DriverContext {
  /** The channel's or driver's options from the configuration; what no schema has checked the driver checks itself. */
  readonly options: Readonly<Record<string, unknown>>;
  /**
   * A folder of the channel's own on this machine, mode 0700, for what is more than credentials. Other processes may have
   * another, or the same.
   */
  readonly dataDir: string;
  readonly log: DriverLog;
}

/** Structured log lines. Never hand it a key, a code, a password or a message's text. */
export interface DriverLog {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** One network's code for one channel, in one process. */
export interface Driver {
  readonly capabilities: DriverCapabilities;
  /** Absent: accounts are phone numbers in E.164 format, with their `+`. */
  readonly identifier?: IdentifierRule;
  /** Absent: every text without control characters is an address, as it is. Asked only where `recipients` is `address`. */
  readonly address?: AddressRule;
  /**
   * Makes the session object of one account. Does no I/O and never throws.
   * Called when the gateway has won the account's lease; at most one session an account is open.
   */
  open(account: DriverAccount, port: Port): Session;
  /**
   * The names of an account's stored credentials that are about a contact: they are deleted when the contact is erased.
   * The gateway hands all of these names to `Session.forget`, also those that are not stored. Called without a session,
   * whether or not one is open. Absent: none is about a contact.
   * @param erasedAt when the contact was erased, milliseconds since the Unix epoch: a message that the driver keeps for
   *   the gateway, and has had from the network only since then, is not named. 1 where it is asked what is also about
   *   a contact who has come back: all messages have come since then
   */
  credentialsOf?(
    contact: ContactAddress,
    stored: StoredCredentials,
    erasedAt: number,
  ): Promise<readonly string[]>;
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
  answer(field: string, value: string): Promise<AnswerOutcome>;
  /**
   * Reconnects from stored credentials, one attempt. Resolves once begun and never rejects: the outcome is a state event,
   * `connected`, `lost`, `logged_out`, `refused` where another identity is linked, or `restricted` where the network
   * blocks the account. After `lost` the gateway calls it again, later and later; the driver does not reconnect by itself,
   * but to find out when a block is over: `unrestricted` and `connected` follow then.
   */
  resume(): Promise<void>;
  /**
   * Sends one message and answers once the network has taken it. The gateway calls it only while connected, for each
   * contact in the order of acceptance and one at a time, for `window` contacts at once. It may be called again with the
   * same reference after a crash or a lost connection.
   * @param signal aborted when the session is about to close, the lease ran out, or the send is still open a minute after
   *   a reconnect that followed it: reject, certain or not
   * @throws DriverError
   */
  send(message: OutboundMessage, signal: AbortSignal): Promise<Sent>;
  /**
   * Shows a contact that the account is typing, while a message waits for its pause. Absent where the network has no such
   * thing. Called only while connected. A rejection changes nothing, and nobody waits for the answer.
   */
  typing?(to: ContactAddress): Promise<void>;
  /**
   * Ends the link on the network's side too. Resolves when done or after a short try; never rejects.
   * `still_linked`: the network did not hear of it, so the user has to unlink the device there.
   */
  logOut(): Promise<'unlinked' | 'still_linked'>;
  /**
   * Drops these credentials of an erased contact from memory, written or not. The names are those that
   * `Driver.credentialsOf` answered; the gateway deletes them right after, and none may be written back. Called at any time.
   * Synchronous, never throws. Absent: the session keeps none in memory.
   */
  forget?(names: readonly string[]): void;
  /**
   * Cuts the connection at once without logging out: after it returns no byte goes out and no event is
   * emitted. Synchronous, idempotent, never throws.
   */
  close(): void;
}

/** The gateway as one session sees it. */
export interface Port {
  /**
   * Tells the gateway what happened. Resolves once the event is durable: only then acknowledge it to the
   * network. Events are taken in the order in which `emit` is called, though a message whose file is slow to come
   * holds up those of its contact alone, up to 64 messages under way; while the database is away they wait. Rejects
   * when the session has been closed or fenced, or the event could not be kept: then do not acknowledge, the network
   * will offer it again.
   * @param event plain data, but for `open` of its media: values that only a prototype has are not read
   */
  emit(event: DriverEvent): Promise<void>;
  /** The account's credentials. */
  readonly credentials: CredentialStore;
  /** Where to connect through, as of the latest `link` or `resume`; null: directly. With `proxies` alone. */
  readonly proxy: ProxyAddress | null;
  /**
   * The text and media of a message sent earlier, for a far side that asks for it again.
   * Null when unknown.
   */
  sentMessage(reference: string): Promise<OutboundMessage | null>;
  /**
   * Fetches what is to be sent: only from addresses that are allowed, within the limits on size, time and type.
   * The file lives until the signal aborts or the send for which it was fetched has settled. That send is known by its
   * `media` object, whose file was mostly fetched before.
   * @throws DriverError `media_unavailable`, `media_too_large`, `media_type_not_allowed` or `media_url_not_allowed`;
   *   always certain, and with a time to try again when that may help
   */
  fetchMedia(media: OutboundMedia, signal: AbortSignal): Promise<MediaFile>;
  /** Counts what the network brought and is no message, or is lost: acknowledged, and left out. Never throws. */
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
  /** Receipts of somebody who is not the contact that the message went to. */
  'receipt',
  /** Lost messages: one whose content cannot be had in the end, or an unknown number that the network left out. */
  'unreadable',
] as const;
export type LeftOutKind = (typeof leftOutKinds)[number];

/**
 * The account's credentials: an opaque key-value store, encrypted at rest. Every call is fenced by the
 * session's lease: one that lost it cannot write.
 */
export interface CredentialStore {
  get(names: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /**
   * Writes all of them or none; null deletes a name.
   * @throws TypeError when a name has more than 190 characters
   */
  set(values: Readonly<Record<string, string | null>>): Promise<void>;
  /** Deletes everything of this account. */
  clear(): Promise<void>;
}

/** What is stored of one account's credentials, to be read without a session. */
export interface StoredCredentials {
  get(names: readonly string[]): Promise<Readonly<Record<string, string>>>;
  /** The names that begin with one of these, in no particular order. */
  names(prefixes: readonly string[]): Promise<readonly string[]>;
}
