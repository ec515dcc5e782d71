import type { Lane } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { writeLane } from '../../core/write-lane.ts';
import type { LeaseToken } from '../cluster/contract.ts';
import type { Job } from './contract.ts';
import { isDue } from './job-work.ts';

/** Makes the rows of jobs that are new. */
export const ensureJobsLane = writeLane<readonly string[]>('jobs.ensure', ({ jobs, now }, inputs) =>
  jobs.ensure([...new Set(inputs.flat())].sort(), now),
);

/** One job that a process wants to do. */
export interface JobClaim {
  readonly name: string;
  readonly everyMs: Job['everyMs'];
  /** The broker's `processId`. */
  readonly owner: string;
  readonly leaseMs: number;
}

/** Takes the lease of a job that is due, and free or of a dead process; null when it is not. */
export const claimJobLane: Lane<JobClaim, LeaseToken | null> = {
  name: 'jobs.claim',
  maxBatch: 1,
  locks: ({ name }) => [`job:${name}`],
  run: oneByOne(async (unit, { name, everyMs, owner, leaseMs }) => {
    const [job] = await unit.jobs.find([name]);
    const holder = job?.owner ?? null;
    const isFree =
      holder === null ||
      holder === owner ||
      (await unit.leaseHolders.lockDead([holder])).includes(holder);
    if (job === undefined || !isDue(job.dueAt, everyMs, unit.now) || !isFree) return null;
    await unit.jobs.leases.take([name], owner, unit.now + leaseMs, leaseMs);
    const [taken] = await unit.jobs.leases.find([name]);
    return { id: name, owner, number: taken?.fence ?? 0 };
  }),
};

/** A job that a process gives up. */
export interface JobRelease {
  readonly lease: LeaseToken;
  /** From when on it may be claimed again, in so many milliseconds. */
  readonly dueInMs: number;
}

/** Gives leases back; those of other processes by now are left alone. */
export const releaseJobLane: Lane<JobRelease, null> = {
  name: 'jobs.release',
  locks: ({ lease }) => [`job:${lease.id}`],
  run: oneByOne(async (unit, { lease, dueInMs }) => {
    await unit.jobs.leases.release([lease], { due_at: unit.now + dueInMs });
    return null;
  }),
};
