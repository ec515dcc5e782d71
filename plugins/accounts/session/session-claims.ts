import { Loop } from '../../../core/loop.ts';
import { claimSessionsLane } from '../lanes/leases.ts';
import type { SessionEnvironment } from './environment.ts';
import type { SessionHost } from './host.ts';

/** Between two scans for free sessions, milliseconds. */
const scanMs = 1_000;

/** Between two scans while more may be free, milliseconds. */
const scanSoonMs = 250;

/** Wins the leases of sessions for this process, as long as it has room. */
export class SessionClaims {
  readonly #environment: SessionEnvironment;
  readonly #host: SessionHost;
  readonly #scanning: Loop;
  /** More leases may be free than the last scan has taken. */
  #isCutShort = false;

  constructor(environment: SessionEnvironment, host: SessionHost) {
    this.#environment = environment;
    this.#host = host;
    const { log, random } = environment;
    this.#scanning = new Loop(
      () => (this.#isCutShort ? scanSoonMs : scanMs) * (0.5 + random()),
      () => this.scan(),
      (error) => log.warn({ err: error }, 'claiming sessions failed'),
    );
  }

  /** Claims now, and again after a pause: leases may be free. */
  scanNow(): void {
    this.#scanning.kick();
  }

  /** No further lease is taken. */
  stop(): Promise<void> {
    return this.#scanning.stop();
  }

  /**
   * Takes free leases, not more at once than can log in soon, so that other processes take some too. Leases that have
   * run out are renewed before: a claimed session may not act until then.
   */
  async scan(): Promise<void> {
    const { storage, broker, cluster, gate } = this.#environment;
    await cluster.renewLapsed();
    const limit = Math.min(this.#host.room, gate.room);
    this.#isCutShort = limit < this.#host.room;
    if (limit === 0) return;
    const { left } = this.#host.parked;
    const input = { owner: broker.processId, leaseMs: cluster.leaseMs, limit, except: left };
    await this.#host.claiming(limit, async () => {
      const claimed = await storage.submit(claimSessionsLane, input);
      this.#isCutShort &&= claimed.length === limit;
      await Promise.all(claimed.map(({ row, fence }) => this.#host.takeUp(row, fence)));
    });
  }
}
