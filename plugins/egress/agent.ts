import { Agent, type Dispatcher, Pool } from 'undici';
import { makeConnector } from './connector.ts';
import { ClosedWhileIdleError } from './failures.ts';
import type { EgressSettings } from './settings.ts';

/**
 * The guarded connections of all requests. Those of one origin are unbounded, since a request would wait for another's;
 * callers bound their requests.
 */
export class GuardedConnections {
  readonly #agent: Agent;
  /** Makes a connection for each request, and keeps none. */
  readonly #unkept: Agent;
  readonly #pools = new Map<string, Pool>();
  /** Free connections promised in this turn of the event loop, by origin. */
  readonly #promised = new Map<string, number>();

  constructor(settings: EgressSettings) {
    const shared = {
      connect: makeConnector(settings),
      maxHeaderSize: 16_384,
      // Each request has one deadline for everything.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#unkept = new Agent({ ...shared, pipelining: 0 });
    this.#agent = new Agent({
      ...shared,
      pipelining: 1,
      keepAliveTimeout: settings.idleMs ?? 4_000,
      keepAliveMaxTimeout: 30_000,
      factory: (origin, options) => this.#pool(String(origin), options),
    });
  }

  /**
   * Sends a request, and once more over a connection of its own when its host was just closing the kept one (RFC 9112
   * §9.3.1). Hosts ignore a webhook whose id they have had.
   * @param begin sends it through an agent; called once or twice
   * @throws what `begin` rejects with
   */
  async send<Answer>(begin: (agent: Dispatcher) => Promise<Answer>): Promise<Answer> {
    try {
      return await begin(this.#agent);
    } catch (error) {
      if (!(error instanceof ClosedWhileIdleError)) throw error;
      return begin(this.#unkept);
    }
  }

  /** Ends every request and connection. */
  async destroy(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#unkept.destroy()]);
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
