import { setMaxListeners } from 'node:events';
import { Counts } from '../counts.ts';
import type { DatabaseClock } from './database-clock.ts';
import type { ReadyAttempt } from './due-batches.ts';
import type { HeldReceivers } from './held-receivers.ts';
import type { EngineMetrics } from './metrics.ts';
import { OpenedSecrets } from './opened-secrets.ts';
import { Outcomes } from './outcomes.ts';
import type { EngineParts } from './parts.ts';
import type { ReceiverRun } from './receiver-run.ts';
import { type SendingParts, send } from './send.ts';
import { type FreeSlots, freeOfTenant, freeSlots } from './slots.ts';

/** Time without an answer after which a request counts as one to a failing receiver, milliseconds. */
const slowMs = 1_000;

/** Listener to requests. */
export interface RequestListener {
  /** Work has begun that a stop waits for. */
  track(work: Promise<void>): void;
  /** A request has ended or its outcome is stored: others may follow. */
  ended(): void;
  /** A delivery is due again after so many milliseconds. */
  dueIn(ms: number): void;
}

/** The requests of this process to all receivers: opens them as far as there is room, and stores their outcomes. */
export class Requests {
  readonly #parts: EngineParts;
  readonly #sending: SendingParts;
  readonly #metrics: EngineMetrics;
  readonly #outcomes: Outcomes;
  readonly #now: DatabaseClock;
  readonly #held: Pick<HeldReceivers, 'areOfSeveral'>;
  readonly #listener: RequestListener;
  readonly #open = { all: 0, failing: 0 };
  readonly #ofTenants = new Counts();
  /** Aborts the attempts under way. */
  readonly #cutting = new AbortController();
  #stopping = false;

  constructor(
    parts: EngineParts,
    metrics: EngineMetrics,
    now: DatabaseClock,
    held: Pick<HeldReceivers, 'areOfSeveral'>,
    listener: RequestListener,
  ) {
    this.#parts = parts;
    this.#sending = { ...parts, secrets: new OpenedSecrets(parts.secrets) };
    this.#metrics = metrics;
    this.#outcomes = new Outcomes(parts, metrics);
    this.#now = now;
    this.#held = held;
    this.#listener = listener;
    // As many listen as attempts are under way.
    setMaxListeners(0, this.#cutting.signal);
  }

  /** Whether a request is open. */
  get areOpen(): boolean {
    return this.#open.all > 0;
  }

  /** Requests that this process may still open. */
  get free(): FreeSlots {
    return freeSlots(this.#parts.settings.inFlight, this.#open);
  }

  /** Whether this process may open a further request to the receiver. */
  hasFree({ failing, tenantId }: ReceiverRun): boolean {
    const { free } = this;
    return (failing ? free.failing : free.all) >= 1 && this.freeOf(tenantId) >= 1;
  }

  /** Requests that a tenant may still open: half of all together while receivers of others are held, too. */
  freeOf(tenantId: string): number {
    if (!this.#held.areOfSeveral) return Number.POSITIVE_INFINITY;
    return freeOfTenant(this.#parts.settings.inFlight, this.#ofTenants.of(tenantId));
  }

  /** Room for further requests at a receiver. */
  roomAt(run: ReceiverRun): number {
    const { settings, testsOpen } = this.#parts;
    return run.room(Math.max(0, settings.concurrency - testsOpen(run.receiverId)));
  }

  /** Begins attempts that are ready at a receiver, as far as there is room. */
  begin(run: ReceiverRun): void {
    const { clock } = this.#parts;
    while (run.hasReady && this.roomAt(run) > 0) {
      const now = clock.monotonic();
      if (this.#stopping || !run.mayAct(now) || !this.hasFree(run)) {
        run.apply('wake');
        return;
      }
      const ready = run.next(now);
      if (ready === undefined) break;
      this.#listener.track(this.#deliver(run, ready));
    }
    run.leave();
  }

  /** Ends deliveries without an attempt. */
  end(run: ReceiverRun, deliveryIds: readonly string[]): void {
    this.#listener.track(this.#end(run, deliveryIds));
  }

  /** Opens none from now on, and limits the tries to store outcomes. */
  stopping(): void {
    this.#stopping = true;
    this.#outcomes.stopping();
  }

  /** Cuts the attempts under way short, without an outcome: each delivery stays due. */
  cut(): void {
    this.#cutting.abort();
  }

  async #deliver(run: ReceiverRun, ready: ReadyAttempt): Promise<void> {
    const { delivery, event } = ready;
    const { failing } = run;
    const { signal } = this.#cutting;
    run.begin(ready);
    this.#opened(run, failing, 1);
    let isLate = false;
    const slow = setTimeout(() => {
      isLate = true;
      this.#countLate(run, failing, 1);
    }, slowMs);
    const attempt = await send(this.#sending, ready, this.#now.now(), signal);
    clearTimeout(slow);
    if (isLate) this.#countLate(run, failing, -1);
    run.answered(ready, attempt.durationMs);
    this.#opened(run, failing, -1);
    // As after a crash: what may have arrived is repeated under its id.
    if (signal.aborted && attempt.statusCode === null) return run.stored(ready);
    this.begin(run);
    this.#listener.ended();
    // A replay is as late as somebody has asked for it.
    if (attempt.number === 1 && !delivery.replayed)
      this.#metrics.firstAttempt(attempt.at - event.createdAt);
    const input = { deliveryId: delivery.id, receiverId: run.receiverId, attempt };
    const outcome = await this.#outcomes.attempted(input);
    run.stored(ready);
    if (outcome !== null) {
      const { now, dueAt, health } = outcome;
      this.#now.atLeast(now);
      if (health !== undefined) run.updateHealth(health);
      if (dueAt !== null) this.#listener.dueIn(dueAt - now);
    }
    if (run.hasHandoffs) this.begin(run);
    this.#listener.ended();
  }

  async #end(run: ReceiverRun, deliveryIds: readonly string[]): Promise<void> {
    run.apply('drain');
    await this.#outcomes.end(deliveryIds);
    run.apply('drained');
    this.#listener.ended();
  }

  #opened({ tenantId }: ReceiverRun, failing: boolean, by: 1 | -1): void {
    this.#open.all += by;
    this.#ofTenants.add(tenantId, by);
    if (failing) this.#open.failing += by;
  }

  /** Counts a request that is late among the failing ones, unless it was opened as one of them. */
  #countLate(run: ReceiverRun, failing: boolean, by: 1 | -1): void {
    run.countLate(by);
    if (!failing) this.#open.failing += by;
  }
}
