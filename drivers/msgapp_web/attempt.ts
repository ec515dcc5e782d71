import type {
  DriverAccount,
  DriverEvent,
  OutboundMessage,
  Port,
  Sent,
} from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import type { Ending } from './close-codes.ts';
import { Connection } from './connection.ts';
import { Inbound } from './inbound.ts';
import type { Library, LibrarySocket } from './library.ts';
import { Linking, type LinkKind } from './linking.ts';
import type { MsgappWebOptions } from './options.ts';
import { notConnected, Outbound } from './outbound.ts';
import { Probe } from './probe.ts';

/** What an attempt is made of. */
export interface AttemptParts {
  readonly library: Library;
  readonly keys: AccountKeys;
  /** Null: linked already. */
  readonly link: LinkKind | null;
  readonly options: MsgappWebOptions;
  readonly account: DriverAccount;
  readonly port: Port;
  /** Like the port's, for as long as the session wants to hear of this attempt. */
  emit(event: DriverEvent): Promise<void>;
  /** Logged in, and the credentials are stored. What has come in is taken once this resolved. */
  opened(): Promise<void>;
  /** Over by itself; nothing follows. */
  ended(ending: Exclude<Ending, { type: 'restart' }>): void;
}

/** A socket that is logged in. */
interface LiveSocket {
  readonly socket: LibrarySocket;
  readonly outbound: Outbound;
  /** Aborted when it is no more. */
  readonly gone: AbortController;
}

/** One try to link or to resume, and the live session that it becomes. Puts the parts of a connection together. */
export class Attempt {
  readonly #parts: AttemptParts;
  readonly #connection: Connection;
  readonly #linking: Linking | null;
  readonly #over = new AbortController();
  #inbound: Inbound | null = null;
  #live: LiveSocket | null = null;
  #probe: Probe | null = null;

  constructor(parts: AttemptParts) {
    const { library, keys, link, options, account, port } = parts;
    this.#parts = parts;
    this.#linking = link && new Linking(link, (step) => this.#emit({ type: 'step', step }));
    this.#connection = new Connection(
      { library, keys, websocketUrl: options.websocketUrl, accountId: account.id, log: port.log },
      link === null ? 'resuming' : 'linking',
      {
        made: (socket) => this.#made(socket),
        qr: (text) => this.#code(text),
        opened: (socket) => void this.#opened(socket),
        newContacts: (allowed, until) => void this.#newContacts(allowed, until),
        ended: (ending) => {
          this.#finish();
          parts.ended(ending);
        },
        sentMessage: (reference) => port.sentMessage(reference),
        contentOf: (message, socket) =>
          new Outbound(library, socket, port, () => undefined).builtContentOf(message),
      },
    );
  }

  get isLive(): boolean {
    return this.#live !== null;
  }

  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    if (this.#live === null) throw notConnected();
    const { outbound, gone } = this.#live;
    return await outbound.send(message, AbortSignal.any([signal, gone.signal]));
  }

  /** Takes this device off the phone's list of linked ones. */
  async leave(signal: AbortSignal): Promise<void> {
    const me = this.#parts.keys.login.me?.id;
    if (this.#live === null || me === undefined) return;
    const { socket } = this.#live;
    const done = socket.query({
      tag: 'iq',
      attrs: { to: this.#parts.library.S_WHATSAPP_NET, type: 'set', xmlns: 'md' },
      content: [{ tag: 'remove-companion-device', attrs: { jid: me, reason: 'user_initiated' } }],
    });
    done.catch(() => undefined);
    await new Promise<void>((resolve, reject) => {
      // The network may cut the connection in place of an answer.
      this.#over.signal.addEventListener('abort', () => resolve());
      signal.addEventListener('abort', () => reject(signal.reason));
      done.then(() => resolve(), reject);
    });
  }

  /** Ends at once: no byte goes out and nobody is told. Idempotent. */
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
    this.#probe?.stop();
    this.#live?.gone.abort(new Error('the connection is over'));
    this.#live = null;
  }

  /** Only an attempt that is not over is heard. */
  async #emit(event: DriverEvent): Promise<void> {
    if (this.#over.signal.aborted) throw new Error('the connection is over');
    await this.#parts.emit(event);
  }

  #made(socket: LibrarySocket): void {
    const { library, keys, account, port } = this.#parts;
    this.#leaveSocket();
    this.#inbound = new Inbound(
      {
        library,
        keys,
        log: port.log,
        accountId: account.id,
        emit: (event) => this.#emit(event),
        isSending: (reference) => this.#live?.outbound.isSending(reference) ?? false,
      },
      socket,
    );
    this.#linking?.use(socket);
  }

  #code(text: string): void {
    if (this.#linking === null) return;
    this.#connection.phase = 'showing';
    this.#linking.offered(text).catch((error: unknown) => this.#lost(error));
  }

  async #opened(socket: LibrarySocket): Promise<void> {
    const { library, keys, options, port } = this.#parts;
    try {
      keys.save();
      await keys.writes.durable();
      if (this.#over.signal.aborted) return;
      const outbound = new Outbound(library, socket, port, () => void this.#askTimeLock(socket));
      this.#connection.phase = 'connected';
      // The gateway may send as soon as it knows, before `emit` has resolved.
      this.#live = { socket, outbound, gone: new AbortController() };
      await this.#parts.opened();
      if (this.#over.signal.aborted) return;
      this.#inbound?.open();
      this.#probe = new Probe(socket, options.probeMs, (message) =>
        this.#connection.end({ type: 'lost', message }),
      );
      if (keys.restricted) await this.#askTimeLock(socket);
    } catch (error) {
      this.#lost(error);
    }
  }

  /** The answer comes like a notification of a change. */
  async #askTimeLock(socket: LibrarySocket): Promise<void> {
    await socket.fetchAccountReachoutTimelock().catch(() => undefined);
  }

  async #newContacts(allowed: boolean, until: number | null): Promise<void> {
    const { keys } = this.#parts;
    if (allowed && !keys.restricted) return;
    keys.restricted = !allowed;
    await this.#emit(
      allowed
        ? { type: 'state', state: 'unrestricted' }
        : {
            type: 'state',
            state: 'restricted',
            scope: 'new_contacts',
            until,
            reason: 'blocked_by_msgapp',
            detail: 'The network lets this account write to no new contacts for now.',
          },
    ).catch(() => undefined);
  }

  #lost(error: unknown): void {
    const message = error instanceof Error ? error.message : 'the connection broke';
    this.#connection.end({ type: 'lost', message });
  }
}
