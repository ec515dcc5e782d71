import { setTimeout as pause } from 'node:timers/promises';
import { GatewayError } from './errors.ts';

/** How long a start waits for a database that is away, milliseconds: the server may just be starting itself. */
export const databaseStartMs = 30_000;

/** Pause between two tries, milliseconds. */
const againMs = 250;

/**
 * Retries a step of the start while the database is away: a short outage ends no start.
 * @param work the step; each try runs the whole of it again, so it must be safe to repeat
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
