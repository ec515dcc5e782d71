import {
  IntermediatePacketCodec,
  type IPacketCodec,
  type TelegramTransport,
  TransportError,
} from '@mtcute/core';
import { TcpTransport } from '@mtcute/node';
import type { ProxyAddress } from '../../core/contracts/driver.ts';
import type { Break } from './causes.ts';
import { type Address, type Connection, passOn } from './proxy.ts';

/** Transport errors of the server. Source: the protocol's list. */
const transportErrors: Readonly<Record<number, Break>> = { 404: 'key_unknown', 429: 'crowded' };

/** Listener to the connections. */
export interface TransportListener {
  /**
   * The main connection could not be made or broke, or its data center turned one away. May be called more than once.
   * Others come and go: the library makes them again for transfers.
   */
  broken(how: Break): void;
  /** Another data center does not know the session's key for it: the library would ask there for ever. */
  unknownTo(dataCenter: number): void;
  /** The data center that the account lives in. */
  primaryDataCenter(): number;
}

/**
 * The library's TCP transport, direct or through a proxy, with two additions for the driver contract: that the main
 * connection broke is reported at once, although the library would reconnect, and all connections can be cut
 * synchronously.
 */
export class CuttableTransport implements TelegramTransport {
  readonly #inner = new TcpTransport();
  readonly #proxy: ProxyAddress | null;
  readonly #answerMs: number;
  readonly #listener: TransportListener;
  readonly #open = new Set<Connection>();
  /** Data center of the main connection, the first that is made there. */
  #mainDataCenter: number | null = null;
  #mainBroke = false;
  #cut = false;

  /** @param answerMs how long a proxy may take to pass a connection on */
  constructor(proxy: ProxyAddress | null, answerMs: number, listener: TransportListener) {
    this.#proxy = proxy;
    this.#answerMs = answerMs;
    this.#listener = listener;
  }

  /** Cuts everything at once: no byte goes out any more. */
  cut(): void {
    this.#cut = true;
    for (const connection of this.#open) connection.close();
    this.#open.clear();
  }

  /** Whether a connection that broke may be made again: the session goes on without it. */
  get mayReconnect(): boolean {
    return !this.#cut && !this.#mainBroke;
  }

  async connect(address: Address): Promise<Connection> {
    if (this.#cut) throw new Error('the connection was cut');
    const isMain = this.#becomesMain(address);
    if (isMain) this.#mainDataCenter = address.id;
    const connection = await this.#connected(address).catch((error: unknown) => {
      if (isMain) this.#broken('unreachable');
      throw error;
    });
    return this.#watched(connection, isMain ? address.id : null);
  }

  packetCodec({ id }: Address): IPacketCodec {
    return new WatchedCodec((how) => this.#refused(id, how));
  }

  /** A connection that can be cut from the beginning. */
  async #connected(address: Address): Promise<Connection> {
    const proxy = this.#proxy;
    const first =
      proxy === null ? address : { ...address, ipAddress: proxy.host, port: proxy.port };
    const connection = await this.#inner.connect(first);
    if (this.#cut) {
      connection.close();
      throw new Error('the connection was cut');
    }
    this.#open.add(connection);
    if (proxy === null) return connection;
    try {
      await passOn(connection, proxy, address, this.#answerMs);
    } catch (error) {
      this.#open.delete(connection);
      throw error;
    }
    return connection;
  }

  /** A data center refused a connection: one that keeps files may be crowded. */
  #refused(dataCenter: number, how: Break): void {
    if (dataCenter === this.#listener.primaryDataCenter()) this.#listener.broken(how);
    else if (how === 'key_unknown') this.#listener.unknownTo(dataCenter);
  }

  /** Others to the same data center, for transfers, may have the same address. */
  #becomesMain({ id, mediaOnly }: Address): boolean {
    if (mediaOnly === true || id === this.#mainDataCenter) return false;
    return id === this.#listener.primaryDataCenter();
  }

  /**
   * The library closes the main connection only when something is wrong, or for one to another data center.
   * @param mainOf the data center of the main connection; null: it is another one
   */
  #watched(connection: Connection, mainOf: number | null): Connection {
    const close = connection.close.bind(connection);
    const read = connection.read.bind(connection);
    const write = connection.write.bind(connection);
    const gone = (): void => {
      this.#open.delete(connection);
      if (this.#cut) return;
      if (mainOf === this.#listener.primaryDataCenter()) this.#broken('broken');
    };
    connection.close = () => {
      close();
      gone();
    };
    connection.read = (into) => elseCall(gone, read(into));
    connection.write = (bytes) => elseCall(gone, write(bytes));
    return connection;
  }

  /** The main connection is no more. */
  #broken(how: Break): void {
    if (this.#cut) return;
    this.#mainBroke = true;
    this.#listener.broken(how);
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
