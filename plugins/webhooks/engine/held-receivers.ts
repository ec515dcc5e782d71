import { Loop } from '../../../core/loop.ts';
import type { DatabaseClock } from './database-clock.ts';
import { type EngineParts, leaseMsOf } from './environment.ts';
import { claimLane, releaseLane, renewLane } from './lease-lanes.ts';
import { leaseDeadline, ReceiverRun } from './receiver-run.ts';

/** Sweep: between two claims of what messages between processes may have missed. */
const sweepMs = 2_000;
/** How soon leases are renewed again that somebody had locked. */
const skippedMs = 500;
/** Receivers taken in one transaction, and held at once. */
const claimAtOnce = 250;
const heldAtMost = 5_000;

/** Gets notified of changes of the receivers. */
export interface HeldReceiversListener {
  /** There may be something to do for one that is held. */
  poll(): void;
  /** Something falls due in so many milliseconds. */
  dueIn(ms: number): void;
}

/** The receivers that this process works at: won, renewed together, and given back. */
export class HeldReceivers {
  readonly #parts: EngineParts;
  readonly #now: DatabaseClock;
  readonly #listener: HeldReceiversListener;
  readonly #leaseMs: number;
  readonly #runs = new Map<string, ReceiverRun>();
  readonly #claiming: Loop;
  readonly #renewing: Loop;
  #skipped = false;
  #stopping = false;

  constructor(parts: EngineParts, now: DatabaseClock, listener: HeldReceiversListener) {
    this.#parts = parts;
    this.#now = now;
    this.#listener = listener;
    this.#leaseMs = leaseMsOf(parts.settings);
    const { log } = parts;
    this.#claiming = new Loop(
      () => sweepMs,
      () => this.#claim(),
      (error) => log.warn({ err: error }, 'claiming receivers with due deliveries failed'),
    );
    this.#renewing = new Loop(
      () => (this.#skipped ? skippedMs : this.#leaseMs / 3),
      () => this.#renew(),
      (error) => log.warn({ err: error }, 'renewing the leases of receivers failed'),
    );
  }

  start(): void {
    this.#claiming.kick();
    this.#renewing.kick();
  }

  /** Claims receivers that are due and free. */
  claim(): void {
    this.#claiming.kick();
  }

  /** Takes no further receiver. */
  async stopClaiming(): Promise<void> {
    this.#stopping = true;
    await this.#claiming.stop();
  }

  /** The end, after everything under way: gives all back, due or not. Never rejects. */
  async stop(): Promise<void> {
    await this.#renewing.stop();
    await Promise.all(this.all().map((run) => this.release(run)));
  }

  all(): readonly ReceiverRun[] {
    return [...this.#runs.values()];
  }

  get(receiverId: string): ReceiverRun | undefined {
    return this.#runs.get(receiverId);
  }

  /** Puts it behind the others in the order of `all`. */
  putLast(run: ReceiverRun): void {
    this.#runs.delete(run.receiverId);
    this.#runs.set(run.receiverId, run);
  }

  /** Forgets one whose lease is lost. */
  forget(run: ReceiverRun): void {
    this.#runs.delete(run.receiverId);
  }

  /** Gives one back, unless something is due to it. Never rejects. */
  async release(run: ReceiverRun): Promise<void> {
    const { storage, log } = this.#parts;
    const { lease } = run;
    run.release();
    try {
      const input = { lease, stopping: this.#stopping };
      const { over, dueAt, now } = await storage.submit(releaseLane, input);
      // It may have been won again meanwhile.
      if (run.lease !== lease) return;
      if (!over) {
        run.apply('keep');
        run.apply('wake');
        this.#listener.poll();
        return;
      }
      this.#runs.delete(run.receiverId);
      if (dueAt !== null) this.#listener.dueIn(dueAt - now);
      if (run.needsPoll) this.#claiming.kick();
    } catch (error) {
      if (run.lease === lease) run.apply('keep');
      log.warn({ err: error, receiver: run.receiverId }, 'a receiver could not be given back');
    }
  }

  async #claim(): Promise<void> {
    const { storage, broker, clock } = this.#parts;
    const { receivers } = storage.read;
    this.#now.set(await storage.now());
    while (!this.#stopping && (await receivers.hasDue(this.#now.now()))) {
      const limit = Math.min(claimAtOnce, heldAtMost - this.#runs.size);
      if (limit <= 0) return;
      const deadline = leaseDeadline(clock.monotonic(), this.#leaseMs);
      const owner = broker.processId;
      const input = { owner, leaseMs: this.#leaseMs, limit, held: [...this.#runs.keys()] };
      const claimed = await storage.submit(claimLane, input);
      this.#now.set(claimed.now);
      for (const leased of claimed.receivers) {
        const run = this.#runs.get(leased.receiver.id);
        if (run !== undefined) run.resume(leased, deadline);
        else this.#runs.set(leased.receiver.id, new ReceiverRun(leased, deadline));
      }
      if (claimed.receivers.length > 0) this.#listener.poll();
      if (claimed.receivers.length < limit) break;
    }
    const now = this.#now.now();
    const next = await receivers.nextDueAt(now);
    if (next !== null) this.#listener.dueIn(next - now);
  }

  async #renew(): Promise<void> {
    const { storage, clock } = this.#parts;
    const runs = this.all().filter(({ state }) => state.lease === 'held');
    this.#skipped = false;
    if (runs.length === 0) return;
    const deadline = leaseDeadline(clock.monotonic(), this.#leaseMs);
    const leases = runs.map((run) => run.lease);
    const { renewed, lost } = await storage.submit(renewLane, { leases, leaseMs: this.#leaseMs });
    runs.forEach((run, index) => {
      if (run.lease !== leases[index] || run.state.lease !== 'held') return;
      if (renewed.has(run.receiverId)) run.renewed(deadline);
      else if (lost.has(run.receiverId)) run.apply('lose');
      else this.#skipped = true;
    });
  }
}
