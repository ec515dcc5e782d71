import type { ConnectionState } from 'baileys';
import type { OutboundMessage } from '../../core/contracts/driver.ts';
import {
  type CloseCode,
  type ConnectionPhase,
  closeCodeOf,
  type Ending,
  endingOf,
  isPassing,
  type LastEnding,
  lost,
  unanswered,
} from './close-codes.ts';
import { errorText } from './error-text.ts';
import { FrameGate, type GateCount } from './frame-gate.ts';
import type { LibrarySocket } from './library.ts';
import {
  forgetUsers,
  type LibrarySocketParts,
  makeLibrarySocket,
  terminate,
} from './library-socket.ts';
import { Liveness } from './liveness.ts';
import type { NewContactLimit } from './new-contact-limits.ts';
import type { MsgappWebOptions } from './options.ts';

/** In which a session that resumes is logged in, the library's own questions after that included, in milliseconds. */
const resumeTimeoutMs = 300_000;

/** How often the network may ask for a new connection: once is usual, after a device is linked. */
const mostRestarts = 5;

/** Pauses before a phone's new device is logged in once more, in milliseconds: the first, and the longest. */
const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Dependencies of a connection. */
export interface NetworkConnectionParts extends LibrarySocketParts {
  readonly options: Pick<MsgappWebOptions, 'websocketUrl' | 'webVersion' | 'probeMs'>;
  readonly frames: FrameWork;
}

/** How the driver's connections treat frames. */
export interface FrameWork {
  /** Whether frames wait for keys, in place of the library; see `FrameGate`. */
  readonly held: boolean;
  count(what: GateCount): void;
}

/** Listener to a connection. Nothing is called once it was cut. */
export interface NetworkConnectionListener {
  /** A socket was made, nothing has come through it yet. */
  made(socket: LibrarySocket): void;
  /** The network offers this text to be scanned. */
  qr(text: string): void;
  /** Logged in. */
  opened(socket: LibrarySocket): void;
  /** The network has locked the account out from new contacts, or lets it write to them again. */
  newContacts(limit: NewContactLimit): void;
  /** Over; nothing follows. */
  ended(ending: LastEnding): void;
  /** What was sent with this reference to whoever has this address, for a far side that asks again. */
  sentMessage(reference: string, address: string): Promise<OutboundMessage | null>;
  /** The same as the library sends it. */
  contentOf(message: OutboundMessage, socket: LibrarySocket): Promise<object>;
}

/** One connection to the network, through as many sockets as the network asks for. */
export class NetworkConnection {
  phase: ConnectionPhase;
  readonly #parts: NetworkConnectionParts;
  readonly #listener: NetworkConnectionListener;
  #socket: LibrarySocket | null = null;
  #gate: FrameGate | null = null;
  #liveness: Liveness | null = null;
  readonly #deadline: NodeJS.Timeout;
  #restarts = 0;
  #pauseMs = firstPauseMs;
  #pause: NodeJS.Timeout | null = null;
  #over = false;

  constructor(
    parts: NetworkConnectionParts,
    phase: ConnectionPhase,
    listener: NetworkConnectionListener,
  ) {
    this.#parts = parts;
    this.phase = phase;
    this.#listener = listener;
    this.#deadline = setTimeout(() => {
      if (this.phase === 'resuming') this.end(lost('The network did not log the session in.'));
    }, resumeTimeoutMs).unref();
    this.#connect();
  }

  /** Ends at once with this outcome, unless it is over already. */
  end(ending: LastEnding): void {
    if (this.#over) return;
    this.cut();
    this.#listener.ended(ending);
  }

  /** Drops what is in memory of these users. */
  forget(users: readonly string[]): void {
    if (this.#socket !== null) forgetUsers(this.#socket, users);
  }

  /** Ends at once: no byte goes out, nothing is written, the listener is not called any more. Idempotent. */
  cut(): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#deadline);
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#parts.keys.writes.close();
    this.#drop();
  }

  /** Whether this is the socket that it goes through now. */
  uses(socket: LibrarySocket): boolean {
    return socket === this.#socket;
  }

  #connect(): void {
    const { keys } = this.#parts;
    const socket = makeLibrarySocket(this.#parts, this.#newGate(), (reference, address, asked) =>
      this.#contentOf(reference, address, asked),
    );
    this.#socket = socket;
    socket.ev.on('creds.update', () => keys.save());
    socket.ev.on('connection.update', (update) => this.#updated(socket, update));
    // The library waits for ever when a server or a proxy answers in HTTP.
    socket.ws.on('unexpected-response', () => {
      if (!this.#over && socket === this.#socket) this.#closed('unreachable');
    });
    this.#liveness = new Liveness(socket, () => {
      // One that is closing already ends with the network's own reason.
      const isClosing = !socket.ws.isOpen && !socket.ws.isConnecting;
      if (!this.#over && socket === this.#socket && !isClosing) this.#silent();
    });
    this.#listener.made(socket);
  }

  /** For a far side that asks again. */
  async #contentOf(
    reference: string,
    address: string,
    socket: LibrarySocket,
  ): Promise<object | undefined> {
    const message = await this.#listener.sentMessage(reference, address);
    if (message === null || this.#over) return undefined;
    return await this.#listener.contentOf(message, socket);
  }

  #silent(): void {
    const dead = lost('The network does not answer on this connection any more.');
    this.#finished(this.phase === 'connected' ? dead : unanswered);
  }

  #newGate(): FrameGate {
    const { keys, frames, accountId, log } = this.#parts;
    const gate = new FrameGate({
      writes: keys.writes,
      holds: frames.held,
      count: frames.count,
      failed: (error) => {
        if (this.#over || gate !== this.#gate) return;
        const said = errorText(error);
        log.warn({ accountId, error: said }, 'keys could not be stored: the connection ends');
        this.end(lost('The keys of this session could not be stored.', 'driver_failed'));
      },
    });
    this.#gate = gate;
    return gate;
  }

  #updated(socket: LibrarySocket, update: Partial<ConnectionState>): void {
    if (this.#over || socket !== this.#socket) return;
    if (update.qr !== undefined) this.#listener.qr(update.qr);
    if (update.reachoutTimeLock !== undefined) {
      const { isActive, timeEnforcementEnds } = update.reachoutTimeLock;
      const until = timeEnforcementEnds?.getTime() ?? null;
      this.#listener.newContacts({ isActive: isActive ?? false, until });
    }
    if (update.connection === 'open') {
      this.#liveness?.opened(this.#parts.options.probeMs);
      this.#listener.opened(socket);
    }
    if (update.connection === 'close') this.#closed(closeCodeOf(update.lastDisconnect?.error));
  }

  #closed(code: CloseCode): void {
    // After a code was used it can no longer run out.
    if (this.phase === 'showing' && this.#parts.keys.isLinked) this.phase = 'linking';
    this.#finished(endingOf(code, this.phase));
  }

  /** Goes on with another socket where the network asks for one, or has linked the device and was lost before its login. */
  #finished(ending: Ending): void {
    const asked = ending.type === 'restart';
    if (asked) this.#restarts += 1;
    const last =
      asked && this.#restarts > mostRestarts
        ? lost('The network asked for a new connection again and again.')
        : ending;
    if (last.type !== 'restart' && !this.#mayLogInYet(last)) {
      this.end(last);
      return;
    }
    if (this.phase === 'showing') this.phase = 'linking';
    this.#drop();
    if (last.type === 'restart') {
      void this.#again();
      return;
    }
    this.#pause = setTimeout(() => void this.#again(), this.#pauseMs).unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, longestPauseMs);
  }

  /** A new link would need another code, and leave this device dead on the phone's list. */
  #mayLogInYet(ending: LastEnding): boolean {
    if (this.phase === 'resuming' || this.phase === 'connected') return false;
    return this.#parts.keys.isLinked && ending.type === 'lost' && isPassing(ending.reason);
  }

  async #again(): Promise<void> {
    // What could not be stored stays, and is written with what comes next.
    await this.#parts.keys.makeOneTimeKeys().catch(() => undefined);
    if (this.#over) return;
    this.#parts.keys.compact();
    this.#connect();
  }

  #drop(): void {
    const socket = this.#socket;
    this.#socket = null;
    this.#gate?.close();
    this.#liveness?.stop();
    if (socket !== null) terminate(socket);
  }
}
