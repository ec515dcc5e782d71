import { Agent, Pool } from 'undici';
import { makeConnector } from './connector.ts';
import type { EgressSettings } from './settings.ts';

/**
 * The guarded connections of all requests. Those of one origin are unbounded, since a request would wait for another's;
 * callers bound their requests.
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
      // Servers close an idle connection after 2 s and more: a request may meet that, and fails.
      keepAliveTimeout: settings.idleMs ?? 1_000,
      keepAliveMaxTimeout: 30_000,
      // Each request has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
      factory: (origin, options) => this.#pool(String(origin), options),
    });
  }

  /**
   * Whether a request to this origin would find a free connection now. undici frees that of an ended answer one turn
   * later; each promise counts for this turn.
   */
  promises(origin: string): boolean {
    const promised = this.#promised.get(origin) ?? 0;
    if ((this.#pools.get(origin)?.stats.free ?? 0) <= promised) return false;
    if (this.#promised.size === 0) setImmediate(() => this.#promised.clear());
    this.#promised.set(origin, promised + 1);
    return true;
  }

  /** The agent drops a pool with its last connection, and makes another on demand. */
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
