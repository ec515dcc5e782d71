import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from './errors.ts';

/** How long a start waits for a database that is away, milliseconds: the server may just be starting itself. */
export const databaseStartMs = 30_000;

/** Between two tries. */
const againMs = 250;

/**
 * Does a step of the start; tries it again as long as the database is away, so that an outage of seconds ends no start.
 * @param work may run several times; repeats what it did before
 * @throws what `work` throws; its `unavailable` only after `databaseStartMs`
 */
export async function whenAvailable<Result>(work: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + databaseStartMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isAway = error instanceof GatewayError && error.code === 'unavailable';
      if (!isAway || performance.now() > deadline) throw error;
      await pause(againMs);
    }
  }
}
