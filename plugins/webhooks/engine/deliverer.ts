import { setTimeout as pause } from 'node:timers/promises';
import { Loop } from '../../../core/loop.ts';
import { attempt } from '../attempt.ts';
import type { Attempt } from '../contract.ts';
import { signingSecretContext } from '../secret.ts';
import { Alarm } from './alarm.ts';
import { DatabaseClock } from './database-clock.ts';
import { makeEndLane } from './end-lane.ts';
import { type EngineParts, leaseMsOf } from './environment.ts';
import { claimLane, releaseLane, renewLane } from './lease-lanes.ts';
import type { EngineMetrics } from './metrics.ts';
import { makeOutcomeLane, type Outcome } from './outcome-lane.ts';
import { leaseDeadline, ReceiverRun } from './receiver-run.ts';
import { freeSlots, shareOut } from './slots.ts';
import { type Look, readWindows, type Start, type Window } from './windows.ts';

/** Between two looks for what messages between processes may have missed. */
const sweepMs = 2_000;
/** How long a receiver is kept to which nothing is due: the next event finds it at hand. */
const lingerMs = 300;
/** How soon leases are renewed again that somebody had locked. */
const skippedMs = 500;
/** The shortest wait for a moment at which something falls due, so that many fall due together. */
const alarmMs = 25;
/** Receivers taken in one transaction, and held at once. */
const claimAtOnce = 250;
const heldAtMost = 5_000;
/** Pause before an outcome is stored again that the database could not take, and how often while stopping. */
const storeAgainMs = 500;
const farewells = 4;

/**
 * Delivers: takes receivers that are due, opens as many requests to each as it may have, stores what came of them, and
 * gives the receivers back.
 */
export class Deliverer {
  readonly #parts: EngineParts;
  readonly #metrics: EngineMetrics;
  readonly #leaseMs: number;
  readonly #outcomeLane;
  readonly #endLane;
  readonly #now: DatabaseClock;
  readonly #runs = new Map<string, ReceiverRun>();
  readonly #open = { all: 0, doubtful: 0 };
  readonly #tasks = new Set<Promise<void>>();
  readonly #claiming: Loop;
  readonly #renewing: Loop;
  readonly #serving: Loop;
  readonly #due = new Alarm(() => this.wake(null));
  readonly #lingering = new Alarm(() => this.#serving.kick());
  #skipped = false;
  #stopping = false;

  constructor(parts: EngineParts, metrics: EngineMetrics) {
    const { clock, log, plans, settings } = parts;
    this.#parts = parts;
    this.#metrics = metrics;
    this.#leaseMs = leaseMsOf(settings);
    this.#outcomeLane = makeOutcomeLane({
      delaysMs: settings.retryDelaysMs,
      pause: { failures: settings.pauseAfterFailures, forMs: settings.pauseAfterMs },
    });
    this.#endLane = makeEndLane(plans);
    this.#now = new DatabaseClock(clock);
    const failed = (what: string) => (error: unknown) => log.warn({ err: error }, `${what} failed`);
    this.#claiming = new Loop(
      () => sweepMs,
      () => this.#claim(),
      failed('looking for deliveries that are due'),
    );
    this.#renewing = new Loop(
      () => (this.#skipped ? skippedMs : this.#leaseMs / 3),
      () => this.#renew(),
      failed('renewing the leases of receivers'),
    );
    this.#serving = new Loop(
      () => sweepMs,
      () => this.#serve(),
      failed('reading deliveries that are due'),
    );
  }

  start(): void {
    this.#claiming.kick();
    this.#renewing.kick();
  }

  /**
   * Something may be due.
   * @param receiverIds to whom; null when that is not known
   */
  wake(receiverIds: readonly string[] | null): void {
    let known = 0;
    for (const run of receiverIds === null ? this.#runs.values() : this.#runsOf(receiverIds)) {
      run.hungry = true;
      if (!run.lost) known += 1;
    }
    if (known > 0) this.#serving.kick();
    if (receiverIds === null || known < receiverIds.length) this.#claiming.kick();
  }

  /** Begins nothing more, waits for what is under way, and gives the receivers back. Never rejects. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#due.stop();
    this.#lingering.stop();
    await Promise.all([this.#claiming.stop(), this.#serving.stop()]);
    while (this.#tasks.size > 0) await Promise.all(this.#tasks);
    await this.#renewing.stop();
    await Promise.all([...this.#runs.values()].map((run) => this.#release(run)));
    // What was due to them is for others.
    this.#parts.broker.toAll('deliveries', {});
  }

  async #claim(): Promise<void> {
    const { storage, broker, clock } = this.#parts;
    const { receivers } = storage.read;
    this.#now.tell(await storage.now());
    while (!this.#stopping && (await receivers.hasDue(this.#now.now()))) {
      const limit = Math.min(claimAtOnce, heldAtMost - this.#runs.size);
      if (limit <= 0) return;
      const deadline = leaseDeadline(clock.monotonic(), this.#leaseMs);
      const owner = broker.processId;
      const held = [...this.#runs.keys()];
      const input = { owner, leaseMs: this.#leaseMs, limit, held };
      const claimed = await storage.submit(claimLane, input);
      this.#now.tell(claimed.now);
      for (const leased of claimed.receivers) {
        const known = this.#runs.get(leased.receiver.id);
        if (known !== undefined) known.resume(leased, deadline);
        else this.#runs.set(leased.receiver.id, new ReceiverRun(leased, deadline));
      }
      if (claimed.receivers.length > 0) this.#serving.kick();
      if (claimed.receivers.length < limit) break;
    }
    const next = await receivers.nextDueAt(this.#now.now());
    if (next !== null) this.#ringAt(next, this.#now.now());
  }

  async #renew(): Promise<void> {
    const { storage, clock } = this.#parts;
    const runs = [...this.#runs.values()].filter((run) => !run.lost && !run.releasing);
    this.#skipped = false;
    if (runs.length === 0) return;
    const deadline = leaseDeadline(clock.monotonic(), this.#leaseMs);
    const leases = runs.map((run) => run.lease);
    const { renewed, lost } = await storage.submit(renewLane, { leases, leaseMs: this.#leaseMs });
    runs.forEach((run, index) => {
      if (run.lease !== leases[index] || run.releasing) return;
      if (renewed.has(run.receiverId)) run.deadline = deadline;
      else if (lost.has(run.receiverId)) run.lost = true;
      else this.#skipped = true;
    });
  }

  /** Shares the free requests out until there are none, or nothing to open them for. */
  async #serve(): Promise<void> {
    const { storage, plans } = this.#parts;
    while (!this.#stopping) {
      const looks = this.#looks();
      if (looks.length === 0) break;
      const windows = await readWindows(storage.read, plans, looks, this.#now.now());
      for (const { run } of looks) run.hungry = false;
      for (const window of windows) this.#take(window);
    }
    this.#letGo();
  }

  #looks(): readonly Look[] {
    const { clock, settings } = this.#parts;
    const now = clock.monotonic();
    const hungry = [...this.#runs.values()].filter((run) => run.hungry && run.mayAct(now));
    const contenders = hungry.map((run) => {
      return { room: run.room(settings.concurrency), doubtful: run.doubtful };
    });
    const shares = shareOut(contenders, freeSlots(settings.inFlight, this.#open));
    return hungry.flatMap((run, index) => {
      const slots = shares[index] ?? 0;
      const isEnding = run.paused && run.underWay.size === 0;
      if (slots === 0 && !isEnding) return [];
      // Behind the others, for the next time that there is not enough for all.
      this.#runs.delete(run.receiverId);
      this.#runs.set(run.receiverId, run);
      return [{ run, slots }];
    });
  }

  #take({ run, receiver, start, end, more, unseen, slots }: Window): void {
    const { clock, settings } = this.#parts;
    run.health = receiver.health;
    run.more = more;
    if (unseen) run.hungry = true;
    const begun = start.slice(0, Math.max(0, Math.min(slots, run.room(settings.concurrency))));
    if (begun.length < start.length) run.more = true;
    for (const one of begun) {
      if (this.#stopping || !run.mayAct(clock.monotonic())) {
        run.hungry = true;
        break;
      }
      run.underWay.set(one.delivery.id, one.delivery);
      this.#track(this.#deliver(run, one));
    }
    if (end.length > 0) this.#track(this.#end(run, end));
  }

  async #deliver(run: ReceiverRun, start: Start): Promise<void> {
    const { delivery } = start;
    const { doubtful } = run;
    run.open += 1;
    this.#open.all += 1;
    if (doubtful) this.#open.doubtful += 1;
    const made = await this.#attempt(start);
    run.open -= 1;
    this.#open.all -= 1;
    if (doubtful) this.#open.doubtful -= 1;
    run.ended();
    this.#serving.kick();
    if (made.number === 1) this.#metrics.firstAttempt(made.at - start.event.createdAt);
    const outcome = await this.#store(run, delivery.id, made);
    run.underWay.delete(delivery.id);
    run.ended();
    if (outcome === null || outcome.health === undefined) run.hungry = true;
    else run.health = outcome.health;
    if (outcome !== null && outcome.result !== 'ignored') this.#metrics.ended(outcome.result);
    if (outcome !== null && outcome.dueAt !== null) this.#ringAt(outcome.dueAt, outcome.now);
    this.#serving.kick();
  }

  async #attempt({ delivery, webhook, event }: Start): Promise<Attempt> {
    const { egress, clock, settings, secrets, log } = this.#parts;
    const { timeoutMs, connectTimeoutMs } = settings;
    const number = delivery.attempts + 1;
    let secret: string | null = null;
    try {
      if (webhook.sealedSecret !== null) {
        secret = secrets.open(webhook.sealedSecret, signingSecretContext(webhook.id));
      }
    } catch (error) {
      log.error({ err: error, webhook: webhook.id }, 'a signing secret cannot be opened');
      const message = 'The gateway cannot open the signing secret: nothing was sent.';
      const failure = { kind: 'blocked', message } as const;
      return { number, at: clock.now(), durationMs: 0, statusCode: null, answer: '', failure };
    }
    return attempt(
      { egress, clock, timeoutMs, connectTimeoutMs },
      {
        url: webhook.url,
        event: delivery.eventType,
        deliveryId: delivery.id,
        number,
        payload: event.payload,
        secret,
      },
    );
  }

  /** Stores an outcome, however often the database has to be asked; null when the stop was in the way. */
  async #store(run: ReceiverRun, deliveryId: string, made: Attempt): Promise<Outcome | null> {
    const { storage, log } = this.#parts;
    const input = { deliveryId, receiverId: run.receiverId, attempt: made };
    let left = farewells;
    for (;;) {
      try {
        const outcome = await storage.submit(this.#outcomeLane, input);
        this.#now.tell(outcome.now);
        return outcome;
      } catch (error) {
        log.warn({ err: error, delivery: deliveryId }, 'an outcome could not be stored');
        if (this.#stopping && --left === 0) return null;
        await pause(storeAgainMs);
      }
    }
  }

  /** Ends deliveries that do not go out. */
  async #end(run: ReceiverRun, deliveryIds: readonly string[]): Promise<void> {
    const { storage, log } = this.#parts;
    run.ending = true;
    try {
      const { suppressed, failed } = await storage.submit(this.#endLane, { deliveryIds });
      this.#metrics.ended('suppressed', suppressed);
      this.#metrics.ended('failed', failed);
    } catch (error) {
      log.warn({ err: error }, 'deliveries could not be suppressed');
      await pause(storeAgainMs);
    }
    run.ending = false;
    run.hungry = true;
    this.#serving.kick();
  }

  /** Gives back the receivers for which there is nothing to do any more. */
  #letGo(): void {
    if (this.#stopping) return;
    const now = this.#parts.clock.monotonic();
    for (const run of this.#runs.values()) {
      const isBusy = run.underWay.size > 0 || run.ending || run.releasing;
      if (isBusy || (run.hungry && !run.lost)) {
        run.idleSince = null;
        continue;
      }
      if (run.lost) {
        this.#runs.delete(run.receiverId);
        continue;
      }
      run.idleSince ??= now;
      if (now - run.idleSince >= lingerMs) this.#track(this.#release(run));
      else this.#lingering.in(run.idleSince + lingerMs - now + 1);
    }
  }

  async #release(run: ReceiverRun): Promise<void> {
    const { storage, log } = this.#parts;
    const { lease } = run;
    run.releasing = true;
    run.idleSince = null;
    try {
      const input = { lease, stopping: this.#stopping };
      const { over, dueAt, now } = await storage.submit(releaseLane, input);
      // It may have been won again meanwhile.
      if (run.lease !== lease) return;
      run.releasing = false;
      if (!over) {
        run.hungry = true;
        this.#serving.kick();
        return;
      }
      this.#runs.delete(run.receiverId);
      if (dueAt !== null) this.#ringAt(dueAt, now);
      if (run.hungry) this.#claiming.kick();
    } catch (error) {
      run.releasing = false;
      log.warn({ err: error, receiver: run.receiverId }, 'a receiver could not be given back');
    }
  }

  #ringAt(dueAt: number, now: number): void {
    if (!this.#stopping) this.#due.in(Math.max(alarmMs, dueAt - now));
  }

  #runsOf(receiverIds: readonly string[]): readonly ReceiverRun[] {
    return receiverIds.flatMap((id) => this.#runs.get(id) ?? []);
  }

  #track(task: Promise<void>): void {
    this.#tasks.add(task);
    void task.finally(() => this.#tasks.delete(task));
  }
}
