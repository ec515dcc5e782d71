import type { Driver } from '../../../core/contracts/driver.ts';
import { DriverHung } from '../../../core/contracts/driver-faults.ts';
import type { GatewayLog } from '../../../core/log.ts';
import { details } from '../reasons.ts';
import type { FollowedAccount } from '../tables/accounts.ts';
import { contain } from './contain.ts';
import type { FencedCredentials } from './credentials.ts';
import type { SessionEnvironment } from './environment.ts';
import { EventPort } from './event-port.ts';
import type { EventQueues } from './event-queues.ts';
import type { SessionListeners } from './listeners.ts';
import type { OpenSession } from './open-session.ts';
import { ResumeWatchdog } from './resume-watchdog.ts';
import type { SessionStatus } from './session-status.ts';
import type { Tries } from './tries.ts';

/** Dependencies of a connection. */
export interface DriverConnectionParts {
  readonly environment: SessionEnvironment;
  readonly driver: Driver;
  readonly live: OpenSession;
  readonly credentials: FencedCredentials;
  readonly listeners: SessionListeners;
  readonly status: SessionStatus;
  readonly tries: Tries;
  readonly queues: EventQueues;
  readonly log: GatewayLog;
  /** False once the session is over or leaving. */
  isOpen(): boolean;
  /** Whether a driver call may go out. */
  mayCall(): boolean;
  /** Runs in the queue of the states, unless the session is over by then. A failure is logged. */
  inStateQueue(take: () => Promise<void>): Promise<void>;
  /** Reports what a broken driver threw. */
  failed(call: string, error: unknown): void;
}

/** Connection of one session through its driver and its account's proxy; another proxy replaces it. */
export class DriverConnection {
  readonly #parts: DriverConnectionParts;
  /** Of the driver's present session: what a replaced one emitted counts no more. */
  #port: EventPort;
  /** Proxy of the latest attempt, as the record has it; of the next one, where none was made or the connection was replaced. */
  #through: string | null;
  readonly #watchdog: ResumeWatchdog;

  constructor(parts: DriverConnectionParts) {
    this.#parts = parts;
    this.#through = parts.live.row.proxy;
    this.#watchdog = new ResumeWatchdog(parts.environment.timers);
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
      if (error instanceof DriverHung) {
        this.#giveUp(port);
        return;
      }
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
      // A pairing has a time-out of its own.
      if (request !== undefined) return live.session.link(request);
      this.#watchdog.begin(() => this.#silent(port));
      return live.session.resume();
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
    this.#disconnect();
    this.#through = live.row.proxy;
    tries.anew();
    const cause = { reason: 'network_unreachable', detail: details.proxy_changed } as const;
    await status.apply({ type: 'lost', ...cause, retryAt: this.#namedAt });
    tries.wanted();
  }

  /** The moment that the network has named for the next try, while that pause lasts. */
  get #namedAt(): number | null {
    const { live, tries } = this.#parts;
    return tries.dueAt === null ? null : live.row.retryAt;
  }

  /** Ends the wait for what a `resume` leads to. */
  end(): void {
    this.#watchdog.end();
  }

  /** A `resume` has come back, or not, and led to nothing. */
  #silent(port: EventPort): void {
    const { environment, live } = this.#parts;
    const { id: accountId, channel } = live.account;
    environment.faults.report({ kind: 'hung', channel, accountId, call: 'resume' });
    this.#giveUp(port);
  }

  /** Ends a session of the driver that does not come back: the next try opens another one. */
  #giveUp(port: EventPort): void {
    const cause = { reason: 'driver_failed', detail: details.driver_failed } as const;
    void this.#parts.inStateQueue(async () => {
      // The call may have waited until the database had its outcome.
      if (port !== this.#port || this.#parts.live.connected) return;
      this.#disconnect();
      await this.#parts.status.apply({ type: 'lost', ...cause, retryAt: this.#namedAt });
    });
  }

  #disconnect(): void {
    this.#watchdog.end();
    this.#parts.live.disconnect();
    this.#port = this.#newPort();
  }

  async #lost(detail: string): Promise<void> {
    const cause = { reason: 'network_unreachable', detail, retryAt: null } as const;
    const port = this.#port;
    await this.#parts.inStateQueue(async () => {
      if (port === this.#port) await this.#parts.status.apply({ type: 'lost', ...cause });
    });
  }

  #newPort(): EventPort {
    const { environment, live, queues, credentials, listeners, status, log } = this.#parts;
    const { faults, metrics } = environment;
    const parts = { queues, credentials, listeners, faults, metrics, log };
    const port: EventPort = new EventPort(live, parts, {
      isOpen: () => this.#parts.isOpen() && this.#port === port,
      onEvent: (type) => this.#watchdog.heard(type),
      onTrigger: (trigger) => status.apply(trigger),
      onStep: (step) => status.takeStep(step),
    });
    return port;
  }
}
