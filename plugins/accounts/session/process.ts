import type { Release } from '../../../core/contracts/broker.ts';
import { Loop } from '../../../core/loop.ts';
import type { SessionEnvironment } from './environment.ts';
import { SessionHost } from './host.ts';
import { SessionRequests, sessionSubject } from './requests.ts';
import { SessionClaims } from './session-claims.ts';

/** Between two sweeps for changes that no signal announced, milliseconds. */
const sweepMs = 3_000;

/** The sessions of this process: with the role `sessions` it claims them and answers requests to them. */
export class SessionProcess {
  readonly host: SessionHost;
  readonly #environment: SessionEnvironment;
  readonly #isHost: boolean;
  readonly #claims: SessionClaims;
  readonly #requests: SessionRequests;
  readonly #sweeping: Loop;
  readonly #releases: Release[] = [];

  constructor(environment: SessionEnvironment, roles: readonly string[]) {
    this.#environment = environment;
    this.#isHost = roles.includes('sessions');
    this.host = new SessionHost(environment);
    this.#claims = new SessionClaims(environment, this.host);
    this.#requests = new SessionRequests(environment, this.host);
    const { log } = environment;
    this.#sweeping = new Loop(
      () => sweepMs,
      () => this.host.sweep(),
      (error) => log.warn({ err: error }, 'sweeping the sessions failed'),
    );
  }

  /** Begins to take sessions. The listeners have attached, and the cluster has tried its first renewal. */
  async start(): Promise<void> {
    if (!this.#isHost) return;
    const { broker } = this.#environment;
    this.#releases.push(
      await broker.serve(sessionSubject, (body, context) => this.#requests.handle(body, context)),
      await broker.listen('leases', () => this.#claims.scanNow()),
    );
    broker.onReady(() => this.#sweeping.kick());
    this.#claims.scanNow();
    this.#sweeping.kick();
  }

  /** A clean stop: claims no more sessions and releases its own. Never rejects. */
  async stop(): Promise<void> {
    const { log } = this.#environment;
    const failed = (error: unknown): void =>
      log.warn({ err: error }, 'the sessions were not stopped cleanly');
    await Promise.all([this.#sweeping.stop(), this.#claims.stop()]);
    await this.host.stop().catch(failed);
    this.host.end();
    for (const release of this.#releases) await release().catch(failed);
  }
}
