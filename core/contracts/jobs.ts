/**
 * Contract of jobs: work beside the requests of which one process at a time does each, under a lease. Jobs run in the
 * processes with the role `webhooks`, from the moment at which everything has booted.
 */

/** Context of a job's run. */
export interface JobRun {
  /** Aborted when the gateway stops, or when the lease is lost: another process may begin. */
  readonly signal: AbortSignal;
}

/**
 * Has work done again and again, `schedule` in the container. Called while booting, in every process. Work that throws is
 * logged, and done again after a pause that grows up to `everyMs`, or a minute where that is more.
 * @param name unique, for ever: at most 100 characters, such as `broadcasts.send`
 * @param everyMs from the end of one run to the start of the next, wherever that is; milliseconds, at least 100
 * @throws Error when the name is taken
 */
export type Schedule = (
  name: string,
  everyMs: number,
  work: (run: JobRun) => Promise<void>,
) => void;

declare module '../container.ts' {
  interface Cradle {
    readonly schedule: Schedule;
  }
}
