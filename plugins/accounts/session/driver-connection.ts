import type { Driver } from '../../../core/contracts/driver.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { details } from '../reasons.ts';
import type { FollowedAccount } from '../tables/accounts.ts';
import { contain } from './contain.ts';
import type { FencedCredentials } from './credentials.ts';
import type { SessionEnvironment } from './environment.ts';
import { EventPort } from './event-port.ts';
import type { SessionListeners } from './listeners.ts';
import type { OpenSession } from './open-session.ts';
import type { SessionStatus } from './session-status.ts';
import type { Tries } from './tries.ts';
import type { Turns } from './turns.ts';

/** What a connection is made with. */
export interface DriverConnectionParts {
  readonly environment: SessionEnvironment;
  readonly driver: Driver;
  readonly live: OpenSession;
  readonly credentials: FencedCredentials;
  readonly listeners: SessionListeners;
  readonly status: SessionStatus;
  readonly tries: Tries;
  readonly turns: Turns;
  readonly log: GatewayLog;
  /** False once the session is over or leaving. */
  isOpen(): boolean;
  /** Whether a driver call may go out. */
  mayCall(): boolean;
  /** Runs in the queue of the states, unless the session is over by then. A failure is logged. */
  inTurn(take: () => Promise<void>): Promise<void>;
  /** Reports what a broken driver threw. */
  failed(call: string, error: unknown): void;
}

/** Connection of one session through its driver and its account's proxy; another proxy replaces it. */
export class DriverConnection {
  readonly #parts: DriverConnectionParts;
  /** Of the driver's present session: what a replaced one emitted counts no more. */
  #port: EventPort;
  /** The proxy of the latest attempt, as the record has it; before the first attempt, the one to come. */
  #through: string | null;

  constructor(parts: DriverConnectionParts) {
    this.#parts = parts;
    this.#through = parts.live.row.proxy;
    this.#port = this.#newPort();
  }

  /** Makes one try to link or to reconnect. */
  attempt(): void {
    const { live, status, tries, isOpen, mayCall } = this.#parts;
    if (!mayCall()) {
      // The cluster may yet renew the lease.
      if (isOpen()) tries.lost('network_unreachable', null);
      return;
    }
    const request = status.pairing?.request;
    const port = this.#port;
    const failed = (error: unknown): void => {
      this.#parts.failed(request === undefined ? 'resume' : 'link', error);
      void port.emit({
        type: 'state',
        state: 'lost',
        reason: 'driver_failed',
        detail: details.driver_failed,
        retryAt: null,
      });
    };
    void contain(async () => {
      const { row } = live;
      const { driver, environment } = this.#parts;
      this.#through = row.proxy;
      const proxy = row.proxy === null ? null : await environment.proxies.through(row);
      // The lookup takes its time.
      if (port !== this.#port) return;
      if (typeof proxy === 'string') return this.#lost(details.no_proxy(proxy));
      if (!mayCall()) return tries.lost('network_unreachable', null);
      if (row.proxy !== live.row.proxy) return this.attempt();
      port.proxy = proxy;
      live.session ??= driver.open(live.account, port);
      return request === undefined ? live.session.resume() : live.session.link(request);
    }, failed);
  }

  /** Whether a record names another proxy than the latest attempt's: a transition may have brought the record before. */
  isProxiedElsewhere({ id, proxy }: FollowedAccount): boolean {
    const { environment } = this.#parts;
    if (this.#through === proxy) return false;
    return !environment.proxies.isSame({ id, proxy: this.#through }, { id, proxy });
  }

  /** Ends the connection, and has another one made through the new proxy. */
  async replace(): Promise<void> {
    const { live, status, tries } = this.#parts;
    live.disconnect();
    this.#through = live.row.proxy;
    this.#port = this.#newPort();
    tries.anew();
    const cause = { reason: 'network_unreachable', detail: details.proxy_changed } as const;
    // A pause that is still on is the one that the network has asked for.
    const retryAt = tries.dueAt === null ? null : live.row.retryAt;
    await status.apply({ type: 'lost', ...cause, retryAt });
    tries.wanted();
  }

  async #lost(detail: string): Promise<void> {
    const cause = { reason: 'network_unreachable', detail, retryAt: null } as const;
    const port = this.#port;
    await this.#parts.inTurn(async () => {
      if (port === this.#port) await this.#parts.status.apply({ type: 'lost', ...cause });
    });
  }

  #newPort(): EventPort {
    const { environment, live, turns, credentials, listeners, status, log } = this.#parts;
    const { faults, metrics } = environment;
    const parts = { turns, credentials, listeners, faults, metrics, log };
    const port: EventPort = new EventPort(live, parts, {
      isOpen: () => this.#parts.isOpen() && this.#port === port,
      onTrigger: (trigger) => status.apply(trigger),
      onStep: (step) => status.takeStep(step),
    });
    return port;
  }
}
