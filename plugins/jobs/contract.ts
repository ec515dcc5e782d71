import type { JobRun } from '../../core/contracts/jobs.ts';

/** A job of this process. */
export interface Job {
  readonly name: string;
  /** The pause between two runs, milliseconds; null: one run, as long as the lease is held. */
  readonly everyMs: number | null;
  work(run: JobRun): Promise<void>;
}

/** The jobs of this process, `jobs` in the container. */
export interface Jobs {
  /** Adds a job while booting. @throws Error when its name is taken */
  add(job: Job): void;
}

declare module '../../core/container.ts' {
  interface Cradle {
    readonly jobs: Jobs;
  }
}
