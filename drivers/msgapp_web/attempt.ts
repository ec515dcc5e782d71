import { setMaxListeners } from 'node:events';
import type {
  ContactAddress,
  DriverAccount,
  DriverEvent,
  OutboundMessage,
  Port,
  Sent,
} from '../../core/contracts/driver.ts';
import { notConnected } from '../../core/contracts/driver-error.ts';
import type { AccountKeys } from './account-keys.ts';
import { type LastEnding, lost } from './close-codes.ts';
import { type FrameWork, NetworkConnection } from './connection.ts';
import { ContactBook } from './contact-book.ts';
import type { Erased } from './erased.ts';
import { errorText } from './error-text.ts';
import { InboundRelay } from './inbound.ts';
import type { Library, LibrarySocket } from './library.ts';
import { isLinkedPhoneOf, unknownPhone, wrongPhoneEnding } from './linked-phone.ts';
import { Linking, type LinkKind } from './linking.ts';
import { NewContactLimits } from './new-contact-limits.ts';
import type { MsgappWebOptions } from './options.ts';
import { Outbound } from './outbound.ts';
import { builtContentOf } from './outbound-content.ts';
import { Recipients } from './recipients.ts';
import type { SentTo } from './sent-to.ts';
import type { Throttle } from './throttle.ts';
import { underFirst } from './under-first.ts';
import { Unlinking } from './unlinking.ts';

/** Dependencies that all attempts of a session share. */
export interface SharedParts {
  readonly options: MsgappWebOptions;
  readonly frames: FrameWork;
  readonly account: DriverAccount;
  readonly port: Port;
  readonly throttle: Throttle;
  readonly sentTo: SentTo;
  readonly erased: Erased;
}

/** Dependencies of an attempt. */
export interface ConnectAttemptParts extends SharedParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  /** Null: linked already. */
  readonly link: LinkKind | null;
  /** As `Port.emit`, for as long as this is the session's attempt. */
  emit(event: DriverEvent): Promise<void>;
  /** Logged in, and the credentials are stored. What has come in is taken once this resolved. */
  opened(): Promise<void>;
  /** Over by itself; nothing follows. */
  ended(ending: LastEnding): void;
}

/** A socket that is logged in. */
interface LiveSocket {
  readonly socket: LibrarySocket;
  readonly outbound: Outbound;
  /** Aborted when it is no more. */
  readonly gone: AbortController;
}

/** One try to link or to resume, and the live session that it becomes. Puts the parts of a connection together. */
export class ConnectAttempt {
  readonly #parts: ConnectAttemptParts;
  readonly #connection: NetworkConnection;
  readonly #linking: Linking | null;
  readonly #limits: NewContactLimits;
  readonly #over = new AbortController();
  readonly #unlinking: Unlinking;
  #inbound: InboundRelay | null = null;
  #book: ContactBook | null = null;
  #live: LiveSocket | null = null;

  constructor(parts: ConnectAttemptParts) {
    const { library, keys, link, options, frames, account, port } = parts;
    this.#parts = parts;
    this.#linking = link && new Linking(link, (step) => this.#emit({ type: 'step', step }));
    this.#unlinking = new Unlinking({ library, keys, over: this.#over.signal });
    this.#limits = new NewContactLimits({ keys, emit: (event) => this.#emit(event) });
    this.#connection = new NetworkConnection(
      { library, keys, options, frames, accountId: account.id, log: port.log },
      link === null ? 'resuming' : 'linking',
      {
        made: (socket) => this.#made(socket),
        qr: (text) => this.#code(text),
        opened: (socket) => void this.#opened(socket),
        newContacts: (limit) => void this.#limits.locked(limit),
        ended: (ending) => {
          this.#unlinking.note(ending);
          this.#finish();
          parts.ended(this.#unlinking.endingOf(ending));
        },
        sentMessage: (reference, address) => this.#sentTo(address, reference),
        contentOf: (message, socket) => builtContentOf(library, socket, port, message),
      },
    );
  }

  get isLive(): boolean {
    return this.#live !== null;
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    if (this.#live === null) throw notConnected();
    const { outbound, gone } = this.#live;
    return await underFirst([signal, gone.signal], (first) => outbound.send(message, first));
  }

  /** As `Session.typing`. */
  async typing(to: ContactAddress): Promise<void> {
    await this.#live?.outbound.typing(to);
  }

  /**
   * Takes this device off the phone's list of linked ones.
   * @throws Error when the network was not reached
   */
  async leave(signal: AbortSignal): Promise<void> {
    if (this.#live === null) throw new Error('there is no connection to the network');
    await this.#unlinking.unlink(this.#live.socket, signal);
  }

  /** Drops what is in memory of credentials that are being deleted, written or not. @param users as in `usersIn` these names */
  forget(names: readonly string[], users: readonly string[]): void {
    this.#parts.keys.writes.set(new Map(names.map((name) => [name, null])));
    this.#connection.forget(users);
    this.#book?.forget(users);
    this.#inbound?.forget(names, users);
  }

  /** Ends at once: no byte goes out and no event is emitted. Idempotent. */
  cut(): void {
    this.#connection.cut();
    this.#finish();
  }

  #finish(): void {
    this.#over.abort(new Error('the connection is over'));
    this.#leaveSocket();
  }

  /** Also when the network asks for a new one. */
  #leaveSocket(): void {
    this.#inbound?.close();
    this.#live?.gone.abort(new Error('the connection is over'));
    this.#live = null;
  }

  /** Only an attempt that is not over is heard. */
  async #emit(event: DriverEvent): Promise<void> {
    if (this.#over.signal.aborted) throw new Error('the connection is over');
    await this.#parts.emit(event);
  }

  /** The message with this reference, if it was sent to the contact at this address: the library sends it once more. */
  async #sentTo(address: string, reference: string): Promise<OutboundMessage | null> {
    const { account, port } = this.#parts;
    const message = await port.sentMessage(reference);
    if (message === null || (await this.#book?.isAt(address, message.to))) return message;
    const fields = { accountId: account.id, message: reference };
    port.log.warn(fields, 'a message is not sent again: somebody else has asked for it');
    return null;
  }

  #made(socket: LibrarySocket): void {
    const { library, keys, account, port, sentTo, erased } = this.#parts;
    this.#leaveSocket();
    const book = new ContactBook(keys, socket);
    this.#book = book;
    this.#inbound = new InboundRelay(
      {
        library,
        keys,
        book,
        sentTo,
        erased,
        log: port.log,
        accountId: account.id,
        emit: (event) => this.#emit(event),
        leftOut: (kind) => port.leftOut(kind),
        isSending: (reference) => this.#live?.outbound.isSending(reference) ?? false,
      },
      socket,
    );
    this.#limits.follow(socket);
    this.#linking?.use(socket);
  }

  #code(text: string): void {
    if (this.#linking === null) return;
    this.#connection.phase = 'showing';
    this.#linking
      .offered(text)
      .then((ending) => ending && this.#connection.end(ending))
      .catch((error: unknown) => this.#failed(error, 'a code could not be shown'));
  }

  async #opened(socket: LibrarySocket): Promise<void> {
    const { library, keys, account, port, throttle, sentTo, erased } = this.#parts;
    const book = this.#book;
    try {
      keys.save();
      // A link that is not stored leaves a dead device on the phone: the next try begins anew.
      if (this.#linking === null) await keys.writes.durable();
      else await keys.writes.surelyDurable();
      if (!this.#connection.uses(socket) || book === null) return;
      const wasLinked = this.#linking === null;
      const asked = isLinkedPhoneOf(account.identifier, keys, socket, wasLinked);
      const own = await asked.catch(() => null);
      // A connection that is not logged in yet may have gone on with another socket.
      if (!this.#connection.uses(socket)) return;
      if (own === false) {
        return await this.#refuse(socket, (unlinked) =>
          wrongPhoneEnding(keys.login.me?.id, unlinked),
        );
      }
      if (own === null) {
        // The next try links anew, and could not unlink this device any more.
        if (this.#connection.phase === 'linking') return await this.#refuse(socket, unknownPhone);
        this.#connection.end(lost('The network did not say whose number was linked.'));
        return;
      }
      const recipients = new Recipients(library, keys, socket);
      const limits = this.#limits;
      const kept = { throttle, sentTo, erased };
      const using = { keys, book, recipients, socket, port, limits, ...kept };
      const outbound = new Outbound(using);
      this.#connection.phase = 'connected';
      // The gateway may send as soon as it knows, before `emit` has resolved.
      const gone = new AbortController();
      // Each send under way listens.
      setMaxListeners(0, gone.signal);
      this.#live = { socket, outbound, gone };
      await this.#parts.opened();
      if (this.#over.signal.aborted) return;
      this.#inbound?.open();
      if (keys.restricted) await this.#limits.lock(socket);
    } catch (error) {
      this.#failed(error, 'a session could not be opened');
    }
  }

  /** Unlinks a phone that may be of another number: nothing of it is taken, and nothing kept. */
  async #refuse(socket: LibrarySocket, endingOf: (unlinked: boolean) => LastEnding): Promise<void> {
    // The login is done: the network ends the connection with 401 when the device is off the list.
    this.#connection.phase = 'connected';
    this.#connection.end(await this.#unlinking.refuse(socket, endingOf));
  }

  /** Ended for a reason of our own. */
  #failed(error: unknown, what: string): void {
    const { log } = this.#parts.port;
    const said = errorText(error);
    if (!this.#over.signal.aborted) {
      log.warn({ accountId: this.#parts.account.id, error: said }, what);
    }
    this.#connection.end(lost('The session could not be opened.', 'driver_failed'));
  }
}
