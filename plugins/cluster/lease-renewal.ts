import type { Clock } from '../../core/contracts/clock.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import { PacedLines } from '../../core/paced-lines.ts';
import { type ClockReading, readClocks, wasSuspended } from '../../core/suspension.ts';
import type { LeaseKeeping, LeaseKind } from './contract.ts';
import { renewLane } from './lanes.ts';
import { type LeaseTerms, LocalLease } from './process-lease.ts';

/** Between two checks of the local deadline, milliseconds. */
const watchMs = 100;

/** The longest pause after a renewal that failed: the database may answer again long before the deadline. Milliseconds. */
const retryMs = 250;

/** Lateness of a check that shows a standstill of the whole process, milliseconds. */
const stalledMs = 1_000;

/** How long a renewal may take after a standstill: long enough for a machine that is still busy. Milliseconds. */
const patienceMs = 5_000;

/** Dependencies of the renewal. */
export interface RenewalParts extends LeaseTerms {
  readonly storage: Pick<Storage, 'submit'>;
  readonly clock: Clock;
  readonly log: GatewayLog;
  /** The process that holds the leases. */
  readonly owner: string;
  /** Called after each standstill of the event loop that was longer than a second. */
  readonly stoodStill: (ms: number) => void;
}

/** Renews the leases of this process, whatever their kinds, and watches over their local deadline. */
export class LeaseRenewal {
  readonly lease: LocalLease;
  readonly #parts: RenewalParts;
  readonly #kinds: KeptKind[] = [];
  readonly #renewing: Loop;
  readonly #lines = new PacedLines();
  /** Whether the latest renewal failed. */
  #isFailing = false;
  #watching: NodeJS.Timeout | null = null;
  #watched: ClockReading;
  #patientUntil = 0;

  constructor(parts: RenewalParts) {
    this.#parts = parts;
    this.lease = new LocalLease(parts.clock);
    this.#watched = readClocks(parts.clock);
    this.#renewing = new Loop(
      () => (this.#isFailing ? Math.min(retryMs, parts.leaseMs / 12) : parts.leaseMs / 3),
      () => this.renew(),
      (error) => this.#failed(error),
    );
  }

  get kinds(): readonly LeaseKind[] {
    return this.#kinds.map(({ kind }) => kind);
  }

  keep(kind: LeaseKind): LeaseKeeping {
    const kept = new KeptKind(kind);
    this.#kinds.push(kept);
    return kept;
  }

  /** Renews now, then periodically. Also resolves when the database is away. */
  async start(): Promise<void> {
    await this.renew().catch((error) => this.#failed(error));
    this.#renewing.rest();
    this.#watched = readClocks(this.#parts.clock);
    this.#watching = setInterval(() => this.#watch(), watchMs).unref();
  }

  /** Stops renewing: from now on nothing may go out under a lease. */
  async stop(): Promise<void> {
    if (this.#watching !== null) clearInterval(this.#watching);
    await this.#renewing.stop();
    this.lease.end();
  }

  /** Renews every lease, and reports those that this process has lost. */
  async renew(): Promise<void> {
    const { storage, clock, owner, leaseMs } = this.#parts;
    const kinds = this.#kinds.map((kept) => kept.snapshot());
    const sent = readClocks(clock);
    const renewals = await storage.submit(renewLane, { owner, leaseMs, kinds });
    for (const [index, { lost, revoked }] of renewals.entries()) {
      const kind = kinds[index]?.kind;
      for (const lease of lost) kind?.lost(lease);
      for (const lease of revoked) kind?.revoked?.(lease);
    }
    this.#extend(sent);
    for (const [index, { unheld }] of renewals.entries()) {
      const { kind, takings } = kinds[index] ?? {};
      const isSure = takings !== null && takings === this.#kinds[index]?.takings;
      if (unheld.length > 0 && isSure) await kind?.unheld(unheld);
    }
  }

  #failed(error: unknown): void {
    this.#isFailing = true;
    const paced = this.#lines.take('renewal');
    if (paced === null) return;
    this.#parts.log.warn({ err: error, ...paced }, 'renewing the leases failed');
  }

  #extend(sent: ClockReading): void {
    this.#isFailing = false;
    const wasHeld = this.lease.isHeld();
    this.lease.extend(sent, this.#parts);
    if (!wasHeld) for (const { kind } of this.#kinds) kind.resumed();
  }

  /**
   * Reports that the local deadline has passed. After a standstill of the process or the machine it waits for a renewal
   * first: the leases may be renewed in the database already, or no process may have taken them.
   */
  #watch(): void {
    const read = readClocks(this.#parts.clock);
    const now = read.monotonic;
    const ms = now - this.#watched.monotonic;
    if (ms > stalledMs) {
      this.#parts.log.info({ ms: Math.round(ms) }, 'the process stood still');
      this.#parts.stoodStill(ms);
    }
    if (ms > stalledMs || wasSuspended(this.#watched, read)) {
      this.#patientUntil = now + patienceMs;
      this.#renewing.kick();
    }
    this.#watched = read;
    if (now < this.#patientUntil || this.lease.isHeld()) return;
    for (const { kind } of this.#kinds) kind.expired?.();
  }
}

/** One kind of leases, with a count of takings. A renewal during a taking may read leases that are not held yet. */
class KeptKind implements LeaseKeeping {
  readonly kind: LeaseKind;
  #underWay = 0;
  #ended = 0;

  constructor(kind: LeaseKind) {
    this.kind = kind;
  }

  /** How many takings have ended, null while one is under way. The same count twice: none in between. */
  get takings(): number | null {
    return this.#underWay > 0 ? null : this.#ended;
  }

  snapshot() {
    const { kind, takings } = this;
    return { kind, takings, held: kind.held() };
  }

  async taking<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
      this.#ended += 1;
    }
  }
}
