import { Loop } from '../../../core/loop.ts';
import { DatabaseClock } from './database-clock.ts';
import type { FreshDeliveries } from './direct-fan-out.ts';
import { type DueBatch, type DueQuery, type ReadyAttempt, readDueBatches } from './due-batches.ts';
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
/** Gap between two polls: several requests end meanwhile and are replaced together. */
const pollGapMs = 2;
/** For how long an idle receiver is kept: the next event need not claim it. */
const lingerMs = 300;
/** Shortest wait for a delivery that falls due, so that many fall due together. */
const shortestWaitMs = 25;

/** Delivers: opens as many requests to each receiver as it may have, and stores what came of them. */
export class Deliverer {
  readonly #parts: EngineParts;
  readonly #sending: SendingParts;
  readonly #metrics: EngineMetrics;
  readonly #outcomes: Outcomes;
  readonly #now: DatabaseClock;
  readonly #receivers: HeldReceivers;
  /** Requests that are open. */
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
   * Something may be due.
   * @param receiverIds to whom; null when that is not known
   * @returns whether this process has the leases of all of them, so that no other can deliver to them
   */
  wake(receiverIds: readonly string[] | null): boolean {
    const runs =
      receiverIds === null
        ? this.#receivers.all()
        : receiverIds.flatMap((id) => this.#receivers.get(id) ?? []);
    for (const run of runs) run.apply('wake');
    if (runs.length > 0) this.#poll.call();
    const now = this.#parts.clock.monotonic();
    const held = runs.filter((run) => run.mayAct(now)).length;
    const all = receiverIds !== null && held === receiverIds.length;
    if (!all) this.#receivers.claim();
    return all;
  }

  /**
   * Takes deliveries that have just become durable: what can begin does so at once, without a poll.
   * @returns the receivers that still need a poll, as not all that is due to them was taken
   */
  takeFresh(fresh: readonly FreshDeliveries[]): readonly string[] {
    const now = this.#parts.clock.monotonic();
    return fresh.flatMap(({ receiverId, readAt, dueAt, ready, hasOthers }) => {
      // Else a poll that follows might not find what is due since just now.
      this.#now.atLeast(dueAt);
      const run = this.#receivers.get(receiverId);
      if (run === undefined || !run.takeFresh(ready, readAt, now)) return receiverId;
      this.#begin(run);
      if (run.needsPoll) this.#poll.call();
      return hasOthers ? receiverId : [];
    });
  }

  /** Begins nothing more, waits for what is under way, and gives the receivers back. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#outcomes.stopping();
    for (const timer of [this.#due, this.#lingering, this.#poll]) timer.stop();
    await Promise.all([this.#receivers.stopClaiming(), this.#polling.stop()]);
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    await this.#receivers.stop();
    // What was due to them is for others.
    this.#parts.broker.toAll('deliveries', {});
  }

  /** Polls the receivers to which something may be due, sharing out the free requests, and gives the idle back. */
  async #pollRound(): Promise<void> {
    const { storage, plans } = this.#parts;
    const queries = this.#queries();
    // Before they are read: what wakes one meanwhile needs another poll.
    for (const { run } of queries) run.poll(this.#parts.clock.monotonic());
    try {
      const batches = await readDueBatches(storage.read, plans, queries, this.#now.now());
      for (const [run, batch] of batches) this.#take(run, batch);
    } catch (error) {
      for (const { run } of queries) run.apply('wake');
      throw error;
    }
    for (const { run } of queries) run.apply('polled');
    if (queries.some(({ run }) => run.needsPoll)) this.#poll.call();
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
      // For the next time that there is not enough for all.
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

  /** Begins what the last poll of a receiver has found, as far as there is room. */
  #begin(run: ReceiverRun): void {
    const { clock, settings } = this.#parts;
    while (run.hasReady && run.room(this.#concurrencyOf(run)) > 0) {
      const free = freeSlots(settings.inFlight, this.#open);
      const now = clock.monotonic();
      if (this.#stopping || !run.mayAct(now) || (run.failing ? free.failing : free.all) < 1) {
        run.apply('wake');
        return;
      }
      const ready = run.next(now);
      if (ready === undefined) break;
      this.#track(this.#deliver(run, ready));
    }
    run.leave();
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

  /** Gives back the receivers for which there is nothing to do any more. */
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
