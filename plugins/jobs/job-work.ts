import { doubled } from '../../core/backoff.ts';
import type { LeaseToken } from '../cluster/contract.ts';
import type { Job } from './contract.ts';

/** The first pause after a failure, and the longest of a job that runs all the time; milliseconds. */
const firstPauseMs = 1_000;
const longestPauseMs = 60_000;

/** One run of a job under its lease. */
export class JobWork {
  readonly job: Job;
  readonly lease: LeaseToken;
  /** Resolves when the work has ended, however. */
  readonly ended: Promise<void>;
  readonly #ending = new AbortController();
  readonly #startedAt = performance.now();
  #end: () => void = () => undefined;

  constructor(job: Job, lease: LeaseToken) {
    this.job = job;
    this.lease = lease;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** It has run for so long that an earlier failure has nothing to do with the next. */
  get hasRunLong(): boolean {
    return performance.now() - this.#startedAt > longestPauseMs;
  }

  /** Does the work; answers what it threw, null for nothing or after `abort`. Never rejects. */
  async run(): Promise<unknown> {
    const { signal } = this.#ending;
    try {
      await this.job.work({ signal });
      return null;
    } catch (error) {
      return signal.aborted ? null : (error ?? new Error('it threw nothing'));
    } finally {
      this.#end();
    }
  }

  abort(): void {
    this.#ending.abort();
  }

  /** After how long the job is due again, in milliseconds. */
  pauseMs(failures: number, isStopping: boolean): number {
    const everyMs = this.job.everyMs ?? 0;
    if (failures > 0) {
      const longestMs = Math.max(everyMs, longestPauseMs);
      return Math.max(everyMs, doubled(firstPauseMs, failures - 1, longestMs));
    }
    // Work that was cut short is for whoever takes it next.
    return isStopping || this.#ending.signal.aborted ? 0 : everyMs;
  }
}

/**
 * Whether a job is due: its moment has come, or is further ahead than the longest pause, so the database's clock was set
 * back since. Pure.
 */
export function isDue(dueAt: number, everyMs: number | null, now: number): boolean {
  return dueAt <= now || dueAt > now + (everyMs ?? 0) + longestPauseMs;
}
