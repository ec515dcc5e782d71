import { setMaxListeners } from 'node:events';
import { networkMiddlewares, type tl } from '@mtcute/core';
import { addPublicKey, LogManager } from '@mtcute/core/utils.js';
import { BaseTelegramClient } from '@mtcute/node';
import { DriverError, type ProxyAddress } from '../../core/contracts/driver.ts';
import { untilAborted } from '../../core/waiting.ts';
import { CallLimit } from './call-limit.ts';
import type { ChatappOptions } from './options.ts';
import { announcingSessions, knownDataCenters } from './other-data-centers.ts';
import { isRpcError, loggableError } from './rpc-errors.ts';
import type { SessionStorage } from './storage/session-storage.ts';
import type { Timing } from './timing.ts';
import { failingTransfers } from './transfer-waits.ts';
import { CuttableTransport, type TransportListener } from './transport.ts';

/** The network's main data center as its clients number it; one of the operator's own takes that place. */
const dataCenterId = 2;

/** How often a call is repeated that the network could not carry out for reasons of its own. */
const internalRetries = 3;

/** Pause before a connection for transfers is made again, in milliseconds; doubled each time, up to the last. */
const firstReconnectMs = 1_000;
const lastReconnectMs = 15_000;

/** The network has this random id already: an answer, not a failure to repeat. */
const duplicate = 'RANDOM_ID_DUPLICATE';

/** Listener to a client. */
export interface ClientListener extends Pick<TransportListener, 'broken'> {
  /** What the network pushed. */
  pushed(updates: tl.TypeUpdates): void;
  /** The network refused a call. */
  refused(error: tl.RpcError): void;
}

/** Limits of one call. */
export interface CallLimits {
  readonly signal?: AbortSignal;
  /** Milliseconds; `timing.answer` when absent. */
  readonly within?: number;
}

/** The network could not be asked, or did not answer in time. */
export class NoAnswer extends Error {}

/**
 * One connection of one account to the network: the library's client, without state of its own or lines on the console.
 * It reconnects for transfers alone.
 */
export class Client {
  readonly library: BaseTelegramClient;
  readonly #listener: ClientListener;
  readonly #timing: Timing;
  readonly #transport: CuttableTransport;
  readonly #over = new AbortController();

  constructor(
    { apiId, apiHash, dataCenter, serverPublicKey }: ChatappOptions,
    timing: Timing,
    storage: SessionStorage,
    proxy: ProxyAddress | null,
    listener: ClientListener,
  ) {
    // Each call under way listens.
    setMaxListeners(0, this.#over.signal);
    this.#listener = listener;
    this.#timing = timing;
    this.#transport = new CuttableTransport(proxy, timing.answer, {
      broken: (how) => listener.broken(how),
      unknownTo: (other) => {
        storage.forgetKey(other);
        listener.broken('broken');
      },
      primaryDataCenter: () => this.library.mt.network.getPrimaryDcId(),
    });
    const address = dataCenter && {
      id: dataCenterId,
      ipAddress: dataCenter.host,
      port: dataCenter.port,
    };
    this.library = new BaseTelegramClient({
      apiId,
      apiHash,
      storage,
      // No hook for the end of the process with each client.
      storageOptions: { cleanup: false },
      transport: this.#transport,
      reconnectionStrategy: ({ previousWait }) => {
        if (!this.#transport.mayReconnect) return false;
        return Math.min(lastReconnectMs, (previousWait ?? firstReconnectMs / 2) * 2);
      },
      // The library advances its state before the gateway holds the message: see update-follower.ts.
      updates: false,
      logLevel: LogManager.OFF,
      initConnectionOptions: { deviceModel: 'Messaging gateway' },
      ...(address === null
        ? {}
        : { defaultDcs: { main: address, media: { ...address, mediaOnly: true } } }),
      network: {
        connectionCount: () => 1,
        middlewares: [
          networkMiddlewares.mediaThrottle(),
          knownDataCenters({
            library: () => this.library,
            list: () => this.call({ _: 'help.getConfig' }),
          }),
          announcingSessions(() => listener.broken('broken')),
          failingTransfers(timing.transferWait),
          networkMiddlewares.floodWaiter({ maxWait: 0, store: false }),
          networkMiddlewares.internalErrorsHandler({
            maxRetries: internalRetries,
            exceptErrors: [duplicate],
          }),
        ],
      },
    });
    if (serverPublicKey !== null) addPublicKey(this.library.crypto, serverPublicKey);
    this.library.onServerUpdate.add((updates) => {
      if (!this.#over.signal.aborted) listener.pushed(updates);
    });
  }

  /** Aborted once the client is cut. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /**
   * Calls a method of the network.
   * @throws tl.RpcError when the network refuses, NoAnswer otherwise
   */
  async call<Request extends tl.RpcMethod>(
    request: Request,
    limits: CallLimits = {},
  ): Promise<tl.RpcCallReturn[Request['_']]> {
    const answer = await this.run(
      // The library types a call by its literal; a generic request is one of them.
      (library, abortSignal) => library.call(request as never, { abortSignal }),
      limits,
    );
    return answer as tl.RpcCallReturn[Request['_']];
  }

  /**
   * Runs a method of the library that makes calls, within the same limits and with the same listener.
   * @throws as `call` does; a DriverError of what the method reads passes through
   */
  async run<Value>(
    method: (library: BaseTelegramClient, abortSignal: AbortSignal) => Promise<Value>,
    { signal, within = this.#timing.answer }: CallLimits = {},
  ): Promise<Value> {
    const limit = new CallLimit([this.#over.signal, signal], within);
    try {
      limit.signal.throwIfAborted();
      // The library waits on while it is still connecting.
      return await untilAborted(limit.signal, method(this.library, limit.signal));
    } catch (error) {
      if (!isRpcError(error)) throw error instanceof DriverError ? error : noAnswer(error);
      if (!this.#over.signal.aborted) this.#listener.refused(error);
      throw error;
    } finally {
      limit.release();
    }
  }

  /**
   * Waits for work of our own that makes calls, within the same limits; the work itself goes on.
   * @throws what the work throws; NoAnswer where a limit ends first
   */
  async until<Value>(
    work: Promise<Value>,
    { signal, within = this.#timing.answer }: CallLimits = {},
  ): Promise<Value> {
    const limit = new CallLimit([this.#over.signal, signal], within);
    try {
      return await untilAborted(limit.signal, work);
    } catch (error) {
      throw limit.signal.aborted && error === limit.signal.reason ? noAnswer(error) : error;
    } finally {
      limit.release();
    }
  }

  /** Cuts the connection at once; calls under way reject. Idempotent. */
  cut(): void {
    if (this.#over.signal.aborted) return;
    this.#over.abort(new Error('the connection is gone'));
    this.#transport.cut();
    this.library.destroy().catch(() => undefined);
  }
}

function noAnswer(cause: unknown): NoAnswer {
  return new NoAnswer(loggableError(cause), { cause });
}
