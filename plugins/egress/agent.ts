import { Agent, Pool } from 'undici';
import { makeConnector } from './connector.ts';
import type { EgressSettings } from './settings.ts';

/**
 * The guarded connections that all requests share. There is no bound to those of one origin, as a request that waits for
 * another's would be delayed by it; callers bound what they ask for.
 */
export class GuardedConnections {
  readonly agent: Agent;
  readonly #pools = new Map<string, Pool>();
  /** Free connections promised in this turn of the event loop, by origin. */
  readonly #promised = new Map<string, number>();

  constructor(settings: EgressSettings) {
    this.agent = new Agent({
      connect: makeConnector(settings),
      pipelining: 1,
      maxHeaderSize: 16_384,
      keepAliveTimeout: settings.idleMs ?? 4_000,
      keepAliveMaxTimeout: 30_000,
      // Each request has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      factory: (origin, options) => this.#pool(String(origin), options),
    });
  }

  /**
   * Whether a request to this origin that is made at once would find a connection free. The one whose answer has just
   * ended is not yet: undici has it free one turn later. A promise counts for this turn.
   */
  promises(origin: string): boolean {
    const promised = this.#promised.get(origin) ?? 0;
    if ((this.#pools.get(origin)?.stats.free ?? 0) <= promised) return false;
    if (this.#promised.size === 0) setImmediate(() => this.#promised.clear());
    this.#promised.set(origin, promised + 1);
    return true;
  }

  /** The agent gives a pool up with its last connection, and makes another when it is asked for one. */
  #pool(origin: string, options: object): Pool {
    const pool = new Pool(origin, options);
    const forget = (): void => {
      if (pool.stats.connected === 0 && this.#pools.get(origin) === pool)
        this.#pools.delete(origin);
    };
    this.#pools.set(origin, pool);
    return pool.on('disconnect', forget).on('connectionError', forget);
  }
}
