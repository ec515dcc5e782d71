import {
  IntermediatePacketCodec,
  type IPacketCodec,
  type TelegramTransport,
  TransportError,
} from '@mtcute/core';
import { TcpTransport } from '@mtcute/node';

type Connection = Awaited<ReturnType<TcpTransport['connect']>>;
type Address = Parameters<TelegramTransport['connect']>[0];

/** The network's answer to a session key that it does not know. */
const unknownKey = 404;

/** What becomes of the connections. */
export interface TransportListener {
  /** A connection could not be made or broke, or the server turned the key away. May be called more than once. */
  broken(message: string, keyUnknown: boolean): void;
}

/**
 * The library's TCP transport, with two things added that the gateway's contract asks for: a broken connection
 * is told at once, since the library would otherwise wait for its own reconnect, and all of them can be cut
 * from one moment to the next.
 */
export class CuttableTransport implements TelegramTransport {
  readonly #inner = new TcpTransport();
  readonly #listener: TransportListener;
  readonly #open = new Set<Connection>();
  #cut = false;

  constructor(listener: TransportListener) {
    this.#listener = listener;
  }

  /** Cuts everything at once: no byte goes out any more. */
  cut(): void {
    this.#cut = true;
    for (const connection of this.#open) connection.close();
    this.#open.clear();
  }

  async connect(address: Address): Promise<Connection> {
    if (this.#cut) throw new Error('the connection was cut');
    const connection = await this.#inner.connect(address).catch((error: unknown) => {
      this.#broken('the network could not be reached');
      throw error;
    });
    if (this.#cut) {
      connection.close();
      throw new Error('the connection was cut');
    }
    this.#open.add(connection);
    return this.#watched(connection, address.mediaOnly !== true);
  }

  packetCodec(): IPacketCodec {
    return new WatchedCodec(() =>
      this.#listener.broken('the network does not know the session any more', true),
    );
  }

  /** @param main the library closes others itself when they are idle; this one only when something is wrong */
  #watched(connection: Connection, main: boolean): Connection {
    const close = connection.close.bind(connection);
    const read = connection.read.bind(connection);
    const write = connection.write.bind(connection);
    let closed = false;
    const gone = (): void => {
      this.#open.delete(connection);
      if (main || !closed) this.#broken('the connection to the network broke');
    };
    connection.close = () => {
      closed = true;
      close();
      gone();
    };
    connection.read = (into) => elseCall(gone, read(into));
    connection.write = (bytes) => elseCall(gone, write(bytes));
    return connection;
  }

  #broken(message: string): void {
    if (!this.#cut) this.#listener.broken(message, false);
  }
}

/** Calls back when it fails, and fails all the same. */
async function elseCall<Value>(failed: () => void, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    failed();
    throw error;
  }
}

class WatchedCodec extends IntermediatePacketCodec {
  readonly #onUnknownKey: () => void;

  constructor(onUnknownKey: () => void) {
    super();
    this.#onUnknownKey = onUnknownKey;
  }

  override decode(...input: Parameters<IntermediatePacketCodec['decode']>): Uint8Array | null {
    try {
      return super.decode(...input);
    } catch (error) {
      if (error instanceof TransportError && error.code === unknownKey) this.#onUnknownKey();
      throw error;
    }
  }
}
