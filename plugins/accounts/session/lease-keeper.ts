import { Loop } from '../../../core/loop.ts';
import { claimLane, type Heartbeat, inheritLane, leaveLane, renewLane } from '../lanes/leases.ts';
import { beatMs } from '../lanes/processes.ts';
import type { SessionEnvironment } from './environment.ts';
import type { SessionHost } from './host.ts';
import { localDeadline } from './process-lease.ts';

/** Between two scans for sessions that nobody holds. */
const scanMs = 1_000;

/** The same while more may be free, or be so in a moment. */
const scanSoonMs = 250;

/** Between two checks of the local deadlines. */
const watchMs = 100;

/** Lateness of such a check that shows that the whole process was at a standstill. */
const stalledMs = 1_000;

/** How long a process may go without a heartbeat before another of its name takes it for dead, milliseconds. */
const silentMs = beatMs + 500;

/** How long the leases may take after a standstill to be renewed: long enough for a machine that is still busy. */
const patienceMs = 5_000;

/** Wins leases for this process and keeps them: renewal, scan, and the watch over the local deadlines. */
export class LeaseKeeper {
  readonly #environment: SessionEnvironment;
  readonly #host: SessionHost;
  readonly #scanning: Loop;
  readonly #renewing: Loop;
  #watching: NodeJS.Timeout | null = null;
  #watchedAt = 0;
  #patientUntil = 0;
  /** More leases may be free than the last scan has taken. */
  #isCutShort = false;
  /** A process of the same name that was there before this one may still hold leases. */
  #mayInherit: boolean;
  /** The heartbeats of those processes, and when they were read on the monotonic clock. */
  #earlier: { readonly at: number; readonly heartbeats: readonly Heartbeat[] } | null = null;

  constructor(environment: SessionEnvironment, host: SessionHost) {
    this.#environment = environment;
    this.#host = host;
    const { log, settings, random, clock } = environment;
    this.#watchedAt = clock.monotonic();
    this.#mayInherit = settings.isAlone;
    this.#scanning = new Loop(
      () => (this.#isCutShort || this.#mayInherit ? scanSoonMs : scanMs) * (0.5 + random()),
      () => this.scan(),
      (error) => log.warn({ err: error }, 'looking for sessions failed'),
    );
    this.#renewing = new Loop(
      () => settings.leaseMs / 3,
      () => this.renew(),
      (error) => log.warn({ err: error }, 'renewing the leases failed'),
    );
  }

  /** Begins to claim and to keep leases; the first renewal has been tried. */
  start(): void {
    this.#scanning.kick();
    this.#renewing.rest();
    this.#watching = setInterval(() => this.#watch(), watchMs).unref();
  }

  /** Somebody gave leases away. */
  scanNow(): void {
    this.#scanning.kick();
  }

  /** No further lease is taken. */
  stopScanning(): Promise<void> {
    return this.#scanning.stop();
  }

  /** The end, after the sessions have stopped. */
  async stop(): Promise<void> {
    if (this.#watching !== null) clearInterval(this.#watching);
    await this.#renewing.stop();
  }

  /**
   * Takes free leases, not more at once than can log in soon, so that others take some too. A process whose own leases
   * have run out renews them before: a claimed session may not act until then.
   */
  async scan(): Promise<void> {
    const { storage, broker, settings, gate } = this.#environment;
    const { leaseMs } = settings;
    const owner = broker.processId;
    if (this.#mayInherit) await this.#inherit();
    if (!this.#host.lease.isHeld()) await this.renew();
    const limit = Math.min(this.#host.room, gate.room);
    this.#isCutShort = limit < this.#host.room;
    if (limit === 0) return;
    const input = { owner, leaseMs, limit };
    await this.#host.claiming(limit, async () => {
      const claimed = await storage.submit(claimLane, input);
      this.#isCutShort &&= claimed.length === limit;
      await Promise.all(claimed.map(({ row, fence }) => this.#host.takeUp(row, fence)));
    });
  }

  /**
   * Begins to take the place of a dead process of the same name. Called once this process has its port: who has not got
   * it may have met a living process there.
   */
  inherit(): void {
    this.#mayInherit = true;
    this.#scanning.kick();
  }

  /** Frees what the dead held, once they have been silent for longer than a heartbeat. A living one keeps its leases. */
  async #inherit(): Promise<void> {
    const { storage, broker, settings, clock } = this.#environment;
    const owner = broker.processId;
    const name = settings.isAlone ? null : settings.processName;
    const at = clock.monotonic();
    if (this.#earlier !== null && at - this.#earlier.at < silentMs) return;
    const read = this.#earlier?.heartbeats ?? [];
    const heartbeats = await storage.submit(inheritLane, { owner, name, read });
    this.#mayInherit = this.#earlier === null && heartbeats.length > 0;
    this.#earlier = { at, heartbeats };
  }

  /** Renews every lease, and learns which this process has no more. */
  async renew(): Promise<void> {
    const { storage, broker, clock, settings } = this.#environment;
    const { leaseMs } = settings;
    const fences = this.#host.fences();
    const { takings } = this.#host;
    const sentAt = clock.monotonic();
    const renewal = await storage.submit(renewLane, { owner: broker.processId, leaseMs, fences });
    for (const fence of renewal.lost) this.#host.lost(fence);
    for (const fence of renewal.revoked) this.#host.revoked(fence);
    this.#host.extend(localDeadline(sentAt, settings));
    const { unheld } = renewal;
    if (unheld.length === 0 || takings === null || takings !== this.#host.takings) return;
    await storage.submit(leaveLane, { fences: unheld, how: 'release' });
    this.#scanning.kick();
  }

  /**
   * Closes the sessions past their local deadline, in which nothing is sent any more. After a standstill of the process
   * they wait for a renewal first: their leases may be renewed in the database already, or wanted by nobody.
   */
  #watch(): void {
    const now = this.#environment.clock.monotonic();
    const ms = now - this.#watchedAt;
    if (ms > stalledMs) {
      this.#environment.log.info({ ms: Math.round(ms) }, 'the process stood still');
      this.#patientUntil = now + patienceMs;
      this.#renewing.kick();
    }
    this.#watchedAt = now;
    if (now >= this.#patientUntil) this.#host.closeExpired();
  }
}
