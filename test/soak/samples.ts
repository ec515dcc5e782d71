import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { memoryOf } from '../harness/cluster.ts';

/** What a profile holds at one moment. */
export interface Sample {
  /** On the monotonic clock, milliseconds. */
  readonly at: number;
  /** Of the largest process, in megabytes. */
  readonly memory: number;
  /** Of the process with most. */
  readonly descriptors: number;
  /** Of the database's own files, without its log, in megabytes. */
  readonly database: number;
  /** Of the embedded database's log, in megabytes. */
  readonly log: number;
}

/**
 * Takes a sample each period until the signal aborts. What a killed process would say is left out.
 * @param pids of the processes that run now
 */
export async function sampleAll(
  pids: () => readonly number[],
  databaseFolder: string,
  periodMs: number,
  signal: AbortSignal,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  while (!signal.aborted) {
    const [memories, descriptors, sizes] = await Promise.all([
      Promise.all(pids().map(memoryOf)),
      Promise.all(pids().map(descriptorsOf)),
      sizesIn(databaseFolder),
    ]);
    samples.push({
      at: performance.now(),
      memory: Math.max(...memories),
      descriptors: Math.max(...descriptors),
      ...sizes,
    });
    await sleep(periodMs, undefined, { signal }).catch(() => undefined);
  }
  return samples;
}

async function descriptorsOf(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`).catch(() => [])).length;
}

async function sizesIn(folder: string): Promise<Pick<Sample, 'database' | 'log'>> {
  let database = 0;
  let log = 0;
  for (const name of await readdir(folder)) {
    const size = await stat(join(folder, name)).then(
      (found) => found.size / 1e6,
      () => 0,
    );
    if (name.endsWith('-wal')) log += size;
    else if (/\.(db|ibd)$/.test(name)) database += size;
  }
  return { database, log };
}
