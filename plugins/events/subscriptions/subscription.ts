import { setTimeout as pause } from 'node:timers/promises';
import { doubled } from '../../../core/backoff.ts';
import { atMost } from '../../../core/waiting.ts';
import { type SubscriptionParts, TenantPages } from './tenant-pages.ts';
import { TenantTurns } from './tenant-turns.ts';

/** Tenants whose events are handled at the same time, not counting slow ones. */
const tenantsAtOnce = 8;

/** How long handlers may take, milliseconds. */
export interface HandlerTimes {
  /** One that runs for longer is slow. */
  readonly slowMs: number;
  /** How long the end of a run waits for slow ones, which do not heed their signal. */
  readonly patienceMs: number;
}

const handlerTimes: HandlerTimes = { slowMs: 60_000, patienceMs: 10_000 };

const never = new AbortController().signal;

/** First and longest pause after a failure beside slow handlers, milliseconds. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** Pause between two polls for events that another process committed, milliseconds. */
const sweepMs = 2_000;

/** One handler, and where it is in the feed of each tenant. Runs as a job: in one process at a time. */
export class Subscription {
  readonly #parts: SubscriptionParts;
  readonly #times: HandlerTimes;
  readonly #turns = new TenantTurns();
  readonly #pages: TenantPages;
  /** The turns of tenants that have begun and not ended. */
  readonly #running = new Set<Promise<void>>();
  /** Error of a turn or a read, until `run` takes it. */
  #failed: unknown;

  constructor(parts: SubscriptionParts, times = handlerTimes) {
    this.#parts = parts;
    this.#times = times;
    this.#pages = new TenantPages(parts, this.#turns, times.slowMs);
  }

  /** A tenant may have new events. */
  notify(tenantId: string): void {
    this.#turns.add(tenantId);
  }

  /**
   * Handles events until the signal aborts; ends when no handler runs any more, but for slow ones whose tenants the next
   * run leaves out. A failure ends it, too, or is tried again here while a slow handler runs: another process would give
   * the same event to a second one.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { storage, log, name } = this.#parts;
    const since = (await storage.read.jobs.find([jobOf(name)]))[0]?.createdAt ?? 0;
    for (let failures = 1; ; failures += 1) {
      const begunAt = performance.now();
      await this.#takeTurns(since, signal);
      const error = this.#failed;
      this.#failed = undefined;
      if (signal.aborted) return await atMost(this.#times.patienceMs, Promise.all(this.#running));
      if (this.#running.size === 0) throw error;
      if (performance.now() - begunAt > longestPauseMs) failures = 1;
      log.error({ err: error, subscription: name, failures }, 'events could not be read or passed');
      const pauseMs = doubled(firstPauseMs, failures - 1, longestPauseMs);
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Handles events until the signal aborts or something fails; slow handlers alone run then. */
  async #takeTurns(since: number, signal: AbortSignal): Promise<void> {
    const { storage, name } = this.#parts;
    while (!signal.aborted && this.#failed === undefined) {
      try {
        for (const tenantId of await storage.read.eventCursors.behind(name)) {
          this.#turns.add(tenantId);
        }
      } catch (error) {
        this.#failed = error;
        break;
      }
      const sweepAt = performance.now() + sweepMs;
      do {
        for (const tenantId of this.#turns.next(tenantsAtOnce)) {
          const work = this.#pages
            .follow(tenantId, since, signal)
            .catch((error: unknown) => {
              this.#failed = error;
            })
            .finally(() => {
              this.#running.delete(work);
              this.#turns.done(tenantId);
            });
          this.#running.add(work);
        }
      } while (
        !(await this.#turns.rest(signal, sweepAt)) &&
        !signal.aborted &&
        this.#failed === undefined
      );
    }
    while (this.#turns.taken > 0) await this.#turns.rest(never, performance.now() + sweepMs);
  }
}

/** The name of the job that runs a subscription. */
export function jobOf(subscription: string): string {
  return `events:${subscription}`;
}
