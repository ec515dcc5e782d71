import { Loop } from '../../../core/loop.ts';
import { DatabaseClock } from './database-clock.ts';
import type { FreshDeliveries } from './direct-fan-out.ts';
import { type DueBatch, type DueQuery, type ReadyAttempt, readDueBatches } from './due-batches.ts';
import { type DueReceiver, notifyAll } from './due-notices.ts';
import { DueTimer, Throttle } from './due-timer.ts';
import { HeldReceivers } from './held-receivers.ts';
import type { EngineMetrics } from './metrics.ts';
import { OpenedSecrets } from './opened-secrets.ts';
import { Outcomes } from './outcomes.ts';
import type { EngineParts } from './parts.ts';
import type { ReceiverRun } from './receiver-run.ts';
import { type SendingParts, send } from './send.ts';
import { freeSlots, shareOut } from './slots.ts';

/** Sweep: a receiver is polled again after this time even without a message. */
const sweepMs = 2_000;
/** Gap between two polls: requests that end in it are replaced together. */
const pollGapMs = 2;
/** Time for which an idle receiver stays claimed, for the next event. */
const lingerMs = 300;
/** Shortest wait for a due delivery, so that deliveries fall due together. */
const shortestWaitMs = 25;

/** Delivers: opens the requests that each receiver may have, and stores their outcomes. */
export class Deliverer {
  readonly #parts: EngineParts;
  readonly #sending: SendingParts;
  readonly #metrics: EngineMetrics;
  readonly #outcomes: Outcomes;
  readonly #now: DatabaseClock;
  readonly #receivers: HeldReceivers;
  /** Open requests. */
  readonly #open = { all: 0, failing: 0 };
  readonly #tasks = new Set<Promise<void>>();
  readonly #polling: Loop;
  readonly #poll = new Throttle(
    () => (this.#open.all === 0 ? 0 : pollGapMs),
    () => this.#polling.kick(),
  );
  readonly #due = new DueTimer(() => this.wake(null));
  readonly #lingering = new DueTimer(() => this.#poll.call());
  #stopping = false;

  constructor(parts: EngineParts, metrics: EngineMetrics) {
    this.#parts = parts;
    this.#sending = { ...parts, secrets: new OpenedSecrets(parts.secrets) };
    this.#metrics = metrics;
    this.#outcomes = new Outcomes(parts, metrics);
    this.#now = new DatabaseClock(parts.clock);
    this.#receivers = new HeldReceivers(parts, this.#now, {
      poll: () => this.#poll.call(),
      dueIn: (ms) => this.#dueIn(ms),
      lost: () => metrics.leaseLost(),
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
   * Wakes receivers to which something may be due; those that no process has it claims, as long as it claims any.
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
      this.#begin(run);
      if (run.needsPoll) this.#poll.call();
      return hasOthers;
    });
  }

  /** Stops new attempts, waits for those under way, and releases the receivers. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#outcomes.stopping();
    for (const timer of [this.#due, this.#lingering, this.#poll]) timer.stop();
    await Promise.all([this.#receivers.stopClaiming(), this.#polling.stop()]);
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
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
    const isOfUse = (run: ReceiverRun) => run.needsPoll && (run.paused || this.#hasFree(run));
    if (queries.some(({ run }) => isOfUse(run))) this.#poll.call();
    this.#letGo();
  }

  #queries(): readonly DueQuery[] {
    if (this.#stopping) return [];
    const { clock, settings } = this.#parts;
    const now = clock.monotonic();
    const runs = this.#receivers.all().filter((run) => run.isToBePolled(now, sweepMs));
    const contenders = runs.map((run) => {
      return { room: run.room(this.#concurrencyOf(run)), failing: run.failing };
    });
    const shares = shareOut(contenders, freeSlots(settings.inFlight, this.#open));
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
    this.#begin(run);
    if (over.length > 0) this.#track(this.#end(run, over));
  }

  #concurrencyOf({ receiverId }: ReceiverRun): number {
    const { settings, testsOpen } = this.#parts;
    return Math.max(0, settings.concurrency - testsOpen(receiverId));
  }

  /** Begins attempts that are ready at a receiver, as far as there is room. */
  #begin(run: ReceiverRun): void {
    const { clock } = this.#parts;
    while (run.hasReady && run.room(this.#concurrencyOf(run)) > 0) {
      const now = clock.monotonic();
      if (this.#stopping || !run.mayAct(now) || !this.#hasFree(run)) {
        run.apply('wake');
        return;
      }
      const ready = run.next(now);
      if (ready === undefined) break;
      this.#track(this.#deliver(run, ready));
    }
    run.leave();
  }

  /** Whether this process may open a further request to the receiver. */
  #hasFree({ failing }: ReceiverRun): boolean {
    const free = freeSlots(this.#parts.settings.inFlight, this.#open);
    return (failing ? free.failing : free.all) >= 1;
  }

  async #deliver(run: ReceiverRun, ready: ReadyAttempt): Promise<void> {
    const { delivery, event } = ready;
    const { failing } = run;
    run.begin(ready);
    this.#opened(failing, 1);
    const attempt = await send(this.#sending, ready);
    run.answered(ready, attempt.durationMs);
    this.#opened(failing, -1);
    this.#begin(run);
    this.#poll.call();
    if (attempt.number === 1) this.#metrics.firstAttempt(attempt.at - event.createdAt);
    const input = { deliveryId: delivery.id, receiverId: run.receiverId, attempt };
    const outcome = await this.#outcomes.attempted(input);
    run.stored(ready);
    if (outcome !== null) {
      const { now, dueAt, health } = outcome;
      this.#now.atLeast(now);
      if (health !== undefined) run.updateHealth(health);
      if (dueAt !== null) this.#dueIn(dueAt - now);
    }
    if (run.hasHandoffs) this.#begin(run);
    this.#poll.call();
  }

  async #end(run: ReceiverRun, deliveryIds: readonly string[]): Promise<void> {
    run.apply('drain');
    await this.#outcomes.end(deliveryIds);
    run.apply('drained');
    this.#poll.call();
  }

  #opened(failing: boolean, by: 1 | -1): void {
    this.#open.all += by;
    if (failing) this.#open.failing += by;
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
