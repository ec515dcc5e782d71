import { Loop } from '../../../core/loop.ts';
import { DatabaseClock } from './database-clock.ts';
import type { FreshDeliveries } from './direct-fan-out.ts';
import { type DueBatch, type DueQuery, readDueBatches } from './due-batches.ts';
import { type DueReceiver, notifyAll } from './due-notices.ts';
import { DueTimer } from './due-timer.ts';
import { HeldReceivers } from './held-receivers.ts';
import type { EngineMetrics } from './metrics.ts';
import { PacedCall } from './paced-call.ts';
import type { EngineParts } from './parts.ts';
import type { ReceiverRun } from './receiver-run.ts';
import { Requests } from './requests.ts';
import { shareOut } from './slots.ts';

/** Sweep: a receiver is polled again after this time even without a message. */
const sweepMs = 2_000;
/** Gap between two polls: requests that end in it are replaced together. */
const pollGapMs = 2;
/** Time for which an idle receiver stays claimed, for the next event. */
const lingerMs = 300;
/** Longest time for which a stop waits for attempts under way: the gateway's grace has to do for the sessions, too. */
const longestStopMs = 12_000;
/** Shortest wait for a due delivery, so that deliveries fall due together. */
const shortestWaitMs = 25;

/** Delivers: shares the free requests out among receivers to which something is due, and lets idle ones go. */
export class Deliverer {
  readonly #parts: EngineParts;
  readonly #now: DatabaseClock;
  readonly #receivers: HeldReceivers;
  readonly #requests: Requests;
  readonly #tasks = new Set<Promise<void>>();
  readonly #polling: Loop;
  readonly #poll = new PacedCall(
    () => (this.#requests.areOpen ? pollGapMs : 0),
    () => this.#polling.kick(),
  );
  readonly #due = new DueTimer(() => this.wake(null));
  readonly #lingering = new DueTimer(() => this.#poll.call());
  #stopping = false;

  constructor(parts: EngineParts, metrics: EngineMetrics) {
    this.#parts = parts;
    this.#now = new DatabaseClock(parts.clock);
    this.#receivers = new HeldReceivers(parts, this.#now, {
      poll: () => this.#poll.call(),
      dueIn: (ms) => this.#dueIn(ms),
      lost: () => metrics.leaseLost(),
    });
    this.#requests = new Requests(parts, metrics, this.#now, this.#receivers, {
      track: (work) => this.#track(work),
      ended: () => this.#poll.call(),
      dueIn: (ms) => this.#dueIn(ms),
    });
    this.#polling = new Loop(
      () => sweepMs,
      () => this.#pollRound(),
      (error) => parts.log.warn({ err: error }, 'reading deliveries that are due failed'),
    );
  }

  start(): void {
    this.#receivers.start();
    this.#polling.kick();
  }

  /**
   * Wakes receivers to which something may be due. Receivers that no process holds are claimed, unless claiming has
   * ended.
   * @param receiverIds null for all
   * @param dueAt since when, on the database's clock; 0 where nobody knows
   */
  wake(receiverIds: readonly string[] | null, dueAt = 0): void {
    this.#now.atLeast(dueAt);
    const runs =
      receiverIds === null
        ? this.#receivers.all()
        : receiverIds.flatMap((id) => this.#receivers.get(id) ?? []);
    for (const run of runs) run.apply('wake');
    if (runs.length > 0) this.#poll.call();
    const now = this.#parts.clock.monotonic();
    const held = runs.filter((run) => run.mayAct(now)).length;
    if (held !== receiverIds?.length) this.#receivers.claim();
  }

  /** Whether this process has the receiver, even if its lease has run out meanwhile. */
  holds(receiverId: string): boolean {
    return this.#receivers.get(receiverId) !== undefined;
  }

  /** Whether it claims further receivers. */
  get claims(): boolean {
    return this.#receivers.claims;
  }

  /**
   * Takes deliveries right after their commit; attempts that can begin do so without a poll.
   * @returns the receivers that still need a poll, as some of their deliveries were not taken
   */
  takeFresh(fresh: readonly FreshDeliveries[]): readonly DueReceiver[] {
    const now = this.#parts.clock.monotonic();
    return fresh.filter(({ receiverId, readAt, dueAt, ready, hasOthers }) => {
      this.#now.atLeast(dueAt);
      const run = this.#receivers.get(receiverId);
      if (run === undefined || !run.takeFresh(ready, readAt, now)) return true;
      this.#requests.begin(run);
      if (run.needsPoll) this.#poll.call();
      return hasOthers;
    });
  }

  /**
   * Stops new attempts, waits for those under way, and releases the receivers. Attempts that take longer are cut short,
   * for other processes to repeat. Never rejects.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#requests.stopping();
    const cutting = setTimeout(() => this.#requests.cut(), longestStopMs);
    for (const timer of [this.#due, this.#lingering, this.#poll]) timer.stop();
    await Promise.all([this.#receivers.stopClaiming(), this.#polling.stop()]);
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    clearTimeout(cutting);
    await this.#receivers.stop();
    // Other processes take over what is due to the released receivers.
    notifyAll(this.#parts.broker);
  }

  /** Polls receivers to which something may be due, shares out the free requests, and releases idle receivers. */
  async #pollRound(): Promise<void> {
    const { storage, plans } = this.#parts;
    const queries = this.#queries();
    // Marked before the read: a wake during it needs another poll.
    for (const { run } of queries) run.poll(this.#parts.clock.monotonic());
    try {
      const batches = await readDueBatches(storage.read, plans, queries, this.#now.now());
      for (const [run, batch] of batches) this.#take(run, batch);
    } catch (error) {
      for (const { run } of queries) run.apply('wake');
      throw error;
    }
    for (const { run } of queries) run.apply('polled');
    // Without a free request a poll would find the same again; each that ends polls.
    const isOfUse = (run: ReceiverRun) =>
      run.needsPoll && (run.paused || this.#requests.hasFree(run));
    if (queries.some(({ run }) => isOfUse(run))) this.#poll.call();
    this.#letGo();
  }

  #queries(): readonly DueQuery[] {
    if (this.#stopping) return [];
    const { clock, settings } = this.#parts;
    const now = clock.monotonic();
    const runs = this.#receivers.all().filter((run) => run.isToBePolled(now, sweepMs));
    const contenders = runs.map((run) => {
      const { tenantId, failing } = run;
      return { tenantId, room: this.#requests.roomAt(run), failing };
    });
    const freeOf = (tenantId: string): number => this.#requests.freeOf(tenantId);
    const shares = shareOut(contenders, this.#requests.free, freeOf);
    return runs.flatMap((run, index) => {
      const slots = shares[index] ?? 0;
      if (!run.canUsePoll(slots, settings.concurrency)) {
        run.apply('skip');
        return [];
      }
      // Round robin: a polled receiver is last when slots are short.
      this.#receivers.putLast(run);
      return [{ run, slots, ahead: run.ahead(settings.concurrency) }];
    });
  }

  #take(run: ReceiverRun, batch: DueBatch): void {
    const over = run.found(batch, this.#parts.clock.monotonic());
    this.#requests.begin(run);
    if (over.length > 0) this.#requests.end(run, over);
  }

  /** Releases idle receivers. */
  #letGo(): void {
    if (this.#stopping) return;
    const now = this.#parts.clock.monotonic();
    for (const run of this.#receivers.all()) {
      const idleMs = run.idleMs(now);
      if (idleMs === null) continue;
      const left = lingerMs - idleMs;
      if (run.state.lease === 'lost') this.#receivers.forget(run);
      else if (left <= 0) this.#track(this.#receivers.release(run));
      else this.#lingering.in(left + 1);
    }
  }

  #dueIn(ms: number): void {
    if (!this.#stopping) this.#due.in(Math.max(shortestWaitMs, ms));
  }

  #track(task: Promise<void>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }
}
