import type { Release } from '../../../core/contracts/broker.ts';
import { Loop } from '../../../core/loop.ts';
import { atMost } from '../../../core/waiting.ts';
import { beatLane, beatMs, goneLane } from '../lanes/processes.ts';
import type { SessionEnvironment } from './environment.ts';
import { SessionHost } from './host.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { SessionRequests, sessionSubject } from './requests.ts';

/** Between two looks at what messages between processes may have missed. */
const sweepMs = 3_000;

/** How long the clean stop waits for the database to take note of it. */
const farewellMs = 3_000;

/**
 * This process among the others: its heartbeat, and with the role `sessions` the sessions it hosts. Every
 * process beats, whatever its roles: places in waits and sessions of the dead are given to others.
 */
export class SessionProcess {
  readonly host: SessionHost;
  readonly #environment: SessionEnvironment;
  readonly #roles: readonly string[];
  readonly #keeper: LeaseKeeper;
  readonly #requests: SessionRequests;
  readonly #beating: Loop;
  readonly #sweeping: Loop;
  readonly #releases: Release[] = [];

  constructor(environment: SessionEnvironment, roles: readonly string[]) {
    this.#environment = environment;
    this.#roles = roles;
    this.host = new SessionHost(environment);
    this.#keeper = new LeaseKeeper(environment, this.host);
    this.#requests = new SessionRequests(environment, this.host);
    const { log } = environment;
    this.#beating = new Loop(
      () => beatMs,
      () => this.beat(),
      (error) => log.warn({ err: error }, 'the heartbeat failed'),
    );
    this.#sweeping = new Loop(
      () => sweepMs,
      () => this.host.sweep(),
      (error) => log.warn({ err: error }, 'sweeping the sessions failed'),
    );
  }

  /** Begins to beat and to take sessions. The parts have attached. */
  async start(): Promise<void> {
    const { broker, log } = this.#environment;
    await this.beat().catch((error) => log.warn({ err: error }, 'the first heartbeat failed'));
    this.#beating.kick();
    if (!this.#roles.includes('sessions')) return;
    // Before the first connect: a session may act only while the leases of this process are known to hold.
    await this.#keeper
      .renew()
      .catch((error) => log.warn({ err: error }, 'the first renewal failed'));
    this.#releases.push(
      await broker.serve(sessionSubject, (body, context) => this.#requests.handle(body, context)),
      await broker.listen('leases', () => this.#keeper.scanNow()),
    );
    broker.onReady(() => this.#sweeping.kick());
    this.#keeper.start();
    this.#sweeping.kick();
  }

  /** Takes the place of a dead process of the same name; called once this process has its port. */
  inherit(): void {
    if (this.#roles.includes('sessions')) this.#keeper.inherit();
  }

  /** Stores a heartbeat now. */
  async beat(): Promise<void> {
    const { storage, broker, settings } = this.#environment;
    await storage.submit(beatLane, {
      id: broker.processId,
      name: settings.processName,
      roles: this.#roles,
      sessions: this.host.size,
      capacity: this.host.stopping ? 0 : settings.capacity,
    });
  }

  /** A clean stop: takes nothing more, hands the sessions over, and is gone. Never rejects. */
  async stop(): Promise<void> {
    const { storage, broker, log } = this.#environment;
    const failed = (error: unknown): void => log.warn({ err: error }, 'the stop was not clean');
    await Promise.all([this.#sweeping.stop(), this.#keeper.stopScanning()]);
    await this.host.stop().catch(failed);
    await this.#keeper.stop();
    // Not before: who is silent counts as dead, and its sessions as free.
    await this.#beating.stop();
    this.host.end();
    for (const release of this.#releases) await release().catch(failed);
    await atMost(farewellMs, storage.submit(goneLane, broker.processId));
  }
}
