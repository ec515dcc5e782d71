import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import { atMost } from '../../core/waiting.ts';
import type { Cluster, LeaseKeeping, LeaseToken } from '../cluster/contract.ts';
import type { Job, Jobs } from './contract.ts';
import { isDue, JobWork } from './job-work.ts';
import { claimJobLane, ensureJobsLane, releaseJobLane } from './lanes.ts';

/** Between two reads of what is due, milliseconds; shorter where a job runs more often. */
const sweepMs = 1_000;

/** How long after a job is due it is asked for, milliseconds: the clock of the database decides. */
const kickMs = 10;

/** Pauses up to this are kept exactly; in a longer one the sweep's second counts for nothing. Milliseconds. */
const exactMs = 60_000;

/** Between two tries to give a job back, milliseconds. */
const giveBackEveryMs = 1_000;

/** How long a stop waits for work that does not heed its signal, milliseconds. */
const patienceMs = 10_000;

/** Dependencies of the jobs. */
export interface JobParts {
  readonly storage: Pick<Storage, 'read' | 'submit' | 'now'>;
  readonly cluster: Pick<Cluster, 'keep' | 'lease' | 'leaseMs' | 'renewLapsed'>;
  readonly log: GatewayLog;
  /** The broker's `processId`. */
  readonly owner: string;
}

/** The jobs that this process may do: claims those that are due and free, does them, and gives them back. */
export class HeldJobs implements Jobs {
  readonly #parts: JobParts;
  readonly #jobs = new Map<string, Job>();
  readonly #work = new Map<string, JobWork>();
  readonly #failures = new Map<string, number>();
  #keeping: LeaseKeeping | null = null;
  #claiming: Loop | null = null;
  #isEnsured = false;
  readonly #stopping = new AbortController();
  #stopped: Promise<void> | null = null;

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  add(job: Job): void {
    if (this.#jobs.has(job.name)) throw new Error(`there already is a job "${job.name}"`);
    if (job.name === '' || job.name.length > 100) {
      throw new Error(`the name of the job "${job.name}" must have 1 to 100 characters`);
    }
    // Without jobs nothing is kept and nothing asked.
    if (this.#jobs.size === 0) this.#keeping = this.#keep();
    this.#jobs.set(job.name, job);
  }

  /** Begins to claim; called once everything has booted. */
  start(): void {
    if (this.#jobs.size === 0) return;
    const shortest = Math.min(...[...this.#jobs.values()].map((job) => job.everyMs ?? sweepMs));
    this.#claiming = new Loop(
      () => Math.min(sweepMs, shortest),
      () => this.#claim(),
      (error) => this.#parts.log.warn({ err: error }, 'claiming jobs failed'),
    );
    this.#claiming.kick();
  }

  /** Ends all work, waits for it, and gives the leases back. */
  stop(): Promise<void> {
    this.#stopped ??= this.#end();
    return this.#stopped;
  }

  async #end(): Promise<void> {
    this.#stopping.abort();
    const claimed = this.#claiming?.stop();
    const all = (): JobWork[] => [...this.#work.values()];
    for (const work of all()) work.abort();
    await claimed;
    for (const work of all()) work.abort();
    await atMost(patienceMs, Promise.all(all().map((work) => work.ended)));
  }

  async #claim(): Promise<void> {
    const { storage, cluster, owner } = this.#parts;
    const names = [...this.#jobs.keys()];
    if (!this.#isEnsured) await storage.submit(ensureJobsLane, names);
    this.#isEnsured = true;
    const now = await storage.now();
    const due = (await storage.read.jobs.find(names)).filter(
      ({ name, dueAt }) => isDue(dueAt, this.#everyMs(name), now) && !this.#work.has(name),
    );
    if (due.length === 0) return;
    const dead = new Set(await storage.read.leaseHolders.dead());
    await cluster.renewLapsed();
    for (const { name, owner: holder } of due) {
      if (holder !== null && holder !== owner && !dead.has(holder)) continue;
      await this.#keeping?.taking(() => this.#take(name));
    }
  }

  async #take(name: string): Promise<void> {
    const { storage, cluster, owner } = this.#parts;
    const { leaseMs } = cluster;
    const everyMs = this.#everyMs(name);
    const lease = await storage.submit(claimJobLane, { name, everyMs, owner, leaseMs });
    const job = this.#jobs.get(name);
    if (lease === null || job === undefined) return;
    const work = new JobWork(job, lease);
    this.#work.set(name, work);
    void work.run().then((error) => this.#ended(work, error));
  }

  #everyMs(name: string): number | null {
    return this.#jobs.get(name)?.everyMs ?? null;
  }

  /** Never rejects. */
  async #ended(work: JobWork, error: unknown): Promise<void> {
    const { log } = this.#parts;
    const { name } = work.job;
    const before = work.hasRunLong ? 0 : (this.#failures.get(name) ?? 0);
    const failures = error === null ? 0 : before + 1;
    this.#failures.set(name, failures);
    if (error !== null) log.error({ err: error, job: name, failures }, 'a job failed');
    const dueAt = performance.now() + work.pauseMs(failures, this.#stopped !== null);
    await this.#release(work, dueAt);
    if (this.#work.get(name) === work) this.#work.delete(name);
    const dueInMs = untilMs(dueAt);
    // The loop alone would find it up to a whole pause later.
    if (dueInMs <= exactMs) setTimeout(() => this.#claiming?.kick(), dueInMs + kickMs).unref();
  }

  /**
   * Gives a job back, again and again until that is stored or the process stops: as the row is, the job is still due, and
   * would run again at once. Never rejects.
   * @param dueAt by `performance.now`
   */
  async #release({ job, lease }: JobWork, dueAt: number): Promise<void> {
    const { log, storage } = this.#parts;
    const { signal } = this.#stopping;
    for (let tries = 1; ; tries += 1) {
      const isLast = signal.aborted;
      try {
        await storage.submit(releaseJobLane, { lease, dueInMs: untilMs(dueAt) });
        return;
      } catch (error) {
        if (tries === 1) log.warn({ err: error, job: job.name }, 'a job could not be given back');
        if (isLast) return;
      }
      await sleep(giveBackEveryMs, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  #keep(): LeaseKeeping {
    return this.#parts.cluster.keep({
      rows: (tables) => tables.jobs.leases,
      held: () => [...this.#work.values()].map(({ lease }) => lease),
      lost: ({ id, number }) => {
        const work = this.#work.get(id);
        if (work?.lease.number === number) work.abort();
      },
      unheld: (leases) => this.#giveBack(leases),
      resumed: () => undefined,
      expired: () => {
        for (const work of this.#work.values()) work.abort();
      },
      freed: () => this.#claiming?.kick(),
    });
  }

  async #giveBack(leases: readonly LeaseToken[]): Promise<void> {
    const { storage } = this.#parts;
    await Promise.all(leases.map((lease) => storage.submit(releaseJobLane, { lease, dueInMs: 0 })));
  }
}

/** How long it is until a moment of `performance.now`, in whole milliseconds. */
function untilMs(moment: number): number {
  return Math.max(0, Math.ceil(moment - performance.now()));
}
