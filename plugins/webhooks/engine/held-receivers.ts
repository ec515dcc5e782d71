import { Loop } from '../../../core/loop.ts';
import type { LeaseKeeping, LeaseToken } from '../../cluster/contract.ts';
import { Counts } from '../counts.ts';
import type { DatabaseClock } from './database-clock.ts';
import { claimReceiversLane, releaseReceiversLane } from './lease-lanes.ts';
import type { EngineParts } from './parts.ts';
import { ReceiverRun } from './receiver-run.ts';

/** Sweep: time between two claims of receivers that no message announced. */
const sweepMs = 2_000;
/** Maximum receivers of one claim, and of this process. */
const claimAtOnce = 250;
const heldAtMost = 5_000;

/** Listener of the receivers of this process. */
export interface HeldReceiversListener {
  /** Something may be due to a held receiver. */
  poll(): void;
  /** Something falls due in so many milliseconds. */
  dueIn(ms: number): void;
  /** Another process has taken a receiver. */
  lost(): void;
}

/** The receivers that this process has leased: claims and releases them. */
export class HeldReceivers {
  readonly #parts: EngineParts;
  readonly #now: DatabaseClock;
  readonly #listener: HeldReceiversListener;
  readonly #keeping: LeaseKeeping;
  readonly #runs = new Map<string, ReceiverRun>();
  /** Receivers of each tenant among them. */
  readonly #ofTenants = new Counts();
  readonly #claiming: Loop;
  #stopping = false;

  constructor(parts: EngineParts, now: DatabaseClock, listener: HeldReceiversListener) {
    this.#parts = parts;
    this.#now = now;
    this.#listener = listener;
    const { cluster, log } = parts;
    this.#keeping = cluster.keep({
      rows: (tables) => tables.receivers.leases,
      held: () => this.all().flatMap(({ state, lease }) => (state.lease === 'lost' ? [] : lease)),
      lost: (lease) => this.#lost(lease),
      unheld: (leases) => this.#releaseUnheld(leases),
      resumed: () => listener.poll(),
      freed: () => this.claim(),
    });
    this.#claiming = new Loop(
      () => sweepMs,
      () => this.#claim(),
      (error) => log.warn({ err: error }, 'claiming receivers with due deliveries failed'),
    );
  }

  start(): void {
    this.#claiming.kick();
  }

  /** Whether this process claims further receivers. */
  get claims(): boolean {
    return !this.#stopping && this.#room > 0;
  }

  get #room(): number {
    return heldAtMost - this.#runs.size;
  }

  /** Whether they are of several tenants. */
  get areOfSeveral(): boolean {
    return this.#ofTenants.size > 1;
  }

  /** Claims receivers that are due and free. */
  claim(): void {
    this.#claiming.kick();
  }

  /** Stops claiming; waits for the claim under way. */
  async stopClaiming(): Promise<void> {
    this.#stopping = true;
    await this.#claiming.stop();
  }

  /** Releases all receivers, due or not, once no attempt is under way. Never rejects. */
  async stop(): Promise<void> {
    await Promise.all(this.all().map((run) => this.release(run)));
  }

  all(): readonly ReceiverRun[] {
    return [...this.#runs.values()];
  }

  get(receiverId: string): ReceiverRun | undefined {
    return this.#runs.get(receiverId);
  }

  /** Makes a receiver the last of `all`. */
  putLast(run: ReceiverRun): void {
    this.#runs.delete(run.receiverId);
    this.#runs.set(run.receiverId, run);
  }

  /** Forgets a receiver whose lease is lost or released. */
  forget(run: ReceiverRun): void {
    if (this.#runs.delete(run.receiverId)) this.#ofTenants.add(run.tenantId, -1);
  }

  /** Releases a receiver, unless something is due to it. Never rejects. */
  async release(run: ReceiverRun): Promise<void> {
    const { storage, log } = this.#parts;
    const { lease } = run;
    run.release();
    try {
      const input = { lease, stopping: this.#stopping };
      const { over, dueAt, now } = await storage.submit(releaseReceiversLane, input);
      // The lease may have been won again meanwhile.
      if (run.lease !== lease) return;
      if (!over) {
        run.apply('keep');
        run.apply('wake');
        this.#listener.poll();
        return;
      }
      this.forget(run);
      if (dueAt !== null) this.#listener.dueIn(dueAt - now);
      if (run.needsPoll) this.#claiming.kick();
    } catch (error) {
      // The release may have been stored. If not, the next renewal finds a lease that nobody holds, and releases it.
      if (run.lease === lease) this.forget(run);
      log.warn({ err: error, receiver: run.receiverId }, 'a receiver could not be released');
    }
  }

  async #claim(): Promise<void> {
    const { storage, broker, cluster } = this.#parts;
    const { receivers } = storage.read;
    // No attempt may begin under a lapsed process lease.
    await cluster.renewLapsed();
    this.#now.set(await storage.now());
    while (!this.#stopping && (await receivers.leases.hasFree(broker.processId, this.#now.now()))) {
      const limit = Math.min(claimAtOnce, this.#room);
      if (limit <= 0) return;
      const count = await this.#keeping.taking(() => this.#take(limit));
      if (count > 0) this.#listener.poll();
      if (count < limit) break;
    }
    const next = await receivers.nextDueAt();
    if (next !== null) this.#listener.dueIn(next - this.#now.now());
  }

  /** Claims at most `limit` receivers and begins or resumes their runs; answers how many. */
  async #take(limit: number): Promise<number> {
    const { storage, broker, cluster } = this.#parts;
    const { leaseMs } = cluster;
    const input = { owner: broker.processId, leaseMs, limit };
    const { receivers, now } = await storage.submit(claimReceiversLane, input);
    this.#now.set(now);
    for (const leased of receivers) {
      const { id } = leased.receiver;
      const run = this.#runs.get(id);
      if (run !== undefined) {
        run.resume(leased);
        continue;
      }
      this.#runs.set(id, new ReceiverRun(leased, cluster.lease));
      this.#ofTenants.add(leased.receiver.tenantId, 1);
    }
    return receivers.length;
  }

  #lost({ id, number }: LeaseToken): void {
    const run = this.#runs.get(id);
    if (run?.lease.number !== number) return;
    run.apply('lose');
    this.#listener.lost();
  }

  async #releaseUnheld(leases: readonly LeaseToken[]): Promise<void> {
    const { storage } = this.#parts;
    await Promise.all(
      leases.map((lease) => storage.submit(releaseReceiversLane, { lease, stopping: true })),
    );
    this.claim();
  }
}
