import { Loop } from '../../../core/loop.ts';
import type { Renewal } from '../contract.ts';
import { claimLane, renewLane, renewLockedLane } from '../lanes/leases.ts';
import { localDeadline } from './deadline.ts';
import type { SessionEnvironment } from './environment.ts';
import type { SessionHost } from './host.ts';

/** Between two looks for sessions that nobody holds. */
const scanMs = 1_000;

/** Between two looks at the local deadlines. */
const watchMs = 100;

/** Leases taken in one transaction. */
const claimAtOnce = 250;

/** Wins leases for this process and keeps them: renewal, scan, and the watch over the local deadlines. */
export class LeaseKeeper {
  readonly #environment: SessionEnvironment;
  readonly #host: SessionHost;
  readonly #scanning: Loop;
  readonly #renewing: Loop;
  #watching: NodeJS.Timeout | null = null;

  constructor(environment: SessionEnvironment, host: SessionHost) {
    this.#environment = environment;
    this.#host = host;
    const { log, settings } = environment;
    this.#scanning = new Loop(
      () => scanMs,
      () => this.scan(),
      (error) => log.warn({ err: error }, 'looking for sessions failed'),
    );
    this.#renewing = new Loop(
      () => settings.leaseMs / 3,
      () => this.renew(),
      (error) => log.warn({ err: error }, 'renewing the leases failed'),
    );
  }

  start(): void {
    this.#scanning.kick();
    this.#renewing.kick();
    this.#watching = setInterval(() => this.#host.closeExpired(), watchMs).unref();
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

  /** Takes free leases as long as there are some and there is room. */
  async scan(): Promise<void> {
    const { storage, broker, clock, settings } = this.#environment;
    for (;;) {
      const limit = Math.min(this.#host.room, claimAtOnce);
      if (limit === 0) return;
      const { leaseMs } = settings;
      const deadline = localDeadline(clock.monotonic(), leaseMs);
      const input = { owner: broker.processId, leaseMs, limit };
      const claimed = await this.#host.reserving(() => storage.submit(claimLane, input));
      await Promise.all(claimed.map(({ row, fence }) => this.#host.takeUp(row, fence, deadline)));
      if (claimed.length < limit) return;
    }
  }

  /** Renews every lease in one transaction. */
  async renew(): Promise<void> {
    const fences = this.#host.fences();
    if (fences.length === 0) return;
    const { storage, clock, settings, log } = this.#environment;
    const { leaseMs } = settings;
    const sentAt = clock.monotonic();
    const renewal = await storage.submit(renewLane, { fences, leaseMs });
    this.#settle(renewal, sentAt);
    if (renewal.skipped.length === 0) return;
    // Not awaited: a row that stays locked must not keep the others from their next renewal.
    const waitedFrom = clock.monotonic();
    storage.submit(renewLockedLane, { fences: renewal.skipped, leaseMs }).then(
      (late) => this.#settle(late, waitedFrom),
      (error) => log.warn({ err: error }, 'renewing locked leases failed'),
    );
  }

  #settle(renewal: Renewal, sentAt: number): void {
    const deadline = localDeadline(sentAt, this.#environment.settings.leaseMs);
    for (const fence of renewal.renewed) this.#host.extend(fence, deadline);
    for (const fence of renewal.lost) this.#host.lost(fence);
    for (const fence of renewal.revoked) this.#host.revoked(fence);
  }
}
