import {
  IntermediatePacketCodec,
  type IPacketCodec,
  type TelegramTransport,
  TransportError,
} from '@mtcute/core';
import { HttpProxyTcpTransport, SocksProxyTcpTransport, TcpTransport } from '@mtcute/node';
import type { ProxyAddress } from '../../core/contracts/driver.ts';
import type { Break } from './causes.ts';

type Connection = Awaited<ReturnType<TelegramTransport['connect']>>;
type Address = Parameters<TelegramTransport['connect']>[0];

/** Transport errors of the server. Source: the protocol's list. */
const transportErrors: Readonly<Record<number, Break>> = { 404: 'key_unknown', 429: 'crowded' };

/** Listener to the connections. */
export interface TransportListener {
  /** A connection could not be made or broke, or the server turned it away. May be called more than once. */
  broken(how: Break): void;
  /** The data center that the account lives in; the library closes connections to others when they are idle. */
  primaryDataCenter(): number;
}

/**
 * The library's TCP transport, direct or through a proxy, with two additions for the driver contract: a broken
 * connection is reported at once, although the library would reconnect, and all connections can be cut synchronously.
 */
export class CuttableTransport implements TelegramTransport {
  readonly #inner: TelegramTransport;
  readonly #listener: TransportListener;
  readonly #open = new Set<Connection>();
  #cut = false;

  constructor(proxy: ProxyAddress | null, listener: TransportListener) {
    this.#inner = transportThrough(proxy);
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
      this.#broken('unreachable');
      throw error;
    });
    if (this.#cut) {
      connection.close();
      throw new Error('the connection was cut');
    }
    this.#open.add(connection);
    return this.#watched(connection, address);
  }

  packetCodec(): IPacketCodec {
    return new WatchedCodec((how) => this.#listener.broken(how));
  }

  /** The main connection is closed by the library only when something is wrong, others also when they are idle. */
  #watched(connection: Connection, { id, mediaOnly }: Address): Connection {
    const close = connection.close.bind(connection);
    const read = connection.read.bind(connection);
    const write = connection.write.bind(connection);
    let closed = false;
    const gone = (): void => {
      this.#open.delete(connection);
      if (this.#cut) return;
      const isMain = mediaOnly !== true && id === this.#listener.primaryDataCenter();
      if (isMain || !closed) this.#broken('broken');
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

  #broken(how: Break): void {
    if (!this.#cut) this.#listener.broken(how);
  }
}

/** Calls back on failure; the error is thrown on. */
async function elseCall<Value>(failed: () => void, work: Promise<Value>): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    failed();
    throw error;
  }
}

function transportThrough(proxy: ProxyAddress | null): TelegramTransport {
  if (proxy === null) return new TcpTransport();
  const { protocol, host, port, username, password } = proxy;
  const settings = {
    ...{ host, port },
    ...(username === null ? {} : { user: username }),
    ...(password === null ? {} : { password }),
  };
  return protocol === 'http'
    ? new HttpProxyTcpTransport(settings)
    : new SocksProxyTcpTransport({ ...settings, version: 5 });
}

class WatchedCodec extends IntermediatePacketCodec {
  readonly #refused: (how: Break) => void;

  constructor(refused: (how: Break) => void) {
    super();
    this.#refused = refused;
  }

  override decode(...input: Parameters<IntermediatePacketCodec['decode']>): Uint8Array | null {
    try {
      return super.decode(...input);
    } catch (error) {
      const how = error instanceof TransportError ? transportErrors[error.code] : undefined;
      if (how !== undefined) this.#refused(how);
      throw error;
    }
  }
}
