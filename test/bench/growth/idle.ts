import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** What is watched while nobody asks for anything. */
export interface IdleSide {
  readonly origin: string;
  readonly databasePid: number | null;
}

/** Milliseconds of processor time for each second. */
export interface IdleCost {
  readonly gateway: number;
  /** 0 where there is no process of its own, or the system does not tell. */
  readonly database: number;
}

/** What the sides cost while they have nothing to do, all watched at the same time. */
export async function idleCosts(
  sides: readonly IdleSide[],
  forMs: number,
): Promise<readonly IdleCost[]> {
  const before = await Promise.all(sides.map(usedMs));
  const startedAt = performance.now();
  await sleep(forMs);
  const after = await Promise.all(sides.map(usedMs));
  const seconds = (performance.now() - startedAt) / 1000;
  return after.map(({ gateway, database }, n) => ({
    gateway: (gateway - (before[n]?.gateway ?? 0)) / seconds,
    database: (database - (before[n]?.database ?? 0)) / seconds,
  }));
}

async function usedMs({ origin, databasePid }: IdleSide): Promise<IdleCost> {
  const metrics = await (await fetch(`${origin}/metrics`)).text();
  const seconds = /^process_cpu_seconds_total (\S+)/m.exec(metrics)?.[1];
  return { gateway: Number(seconds) * 1000, database: await processMs(databasePid) };
}

/** Finer than the ten milliseconds of the process as a whole; its threads stay while its connections do. */
async function processMs(pid: number | null): Promise<number> {
  if (pid === null) return 0;
  const folder = `/proc/${pid}/task`;
  const threads = await readdir(folder).catch(() => []);
  const used = threads.map(async (thread) => {
    const stat = await readFile(`${folder}/${thread}/schedstat`, 'utf8').catch(() => '0');
    return Number(stat.split(' ')[0]) / 1e6;
  });
  return (await Promise.all(used)).reduce((sum, ms) => sum + ms, 0);
}
