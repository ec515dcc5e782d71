import type { FastifyInstance } from 'fastify';
import { spread } from './backoff.ts';
import type { Lane, Storage, Unit } from './contracts/storage.ts';
import type { GatewayLog } from './log.ts';
import { Loop } from './loop.ts';
import { oneByOne } from './one-by-one.ts';

/** Bounds of the time between two rounds; the shorter one is for the shortest times of a test. */
const slowestMs = 60_000;
const fastestMs = 500;

/** Rows that one transaction deletes. */
const rowsAtOnce = 1_000;

/**
 * The time until the next round over what is kept, in milliseconds: a tenth of how long that is, with jitter.
 * @param atMost the usual time where it is kept for long
 */
export function roundPause(keptMs: number, atMost = slowestMs): number {
  return spread(Math.max(fastestMs, Math.min(atMost, keptMs / 10)), 0.2);
}

/** What is old enough to be deleted. */
export interface PruneInput {
  /** Stored before this moment. */
  readonly before: number;
  readonly limit: number;
}

/** Deletes old rows of one kind; answers how many. */
export type PruneLane = Lane<PruneInput, number>;

/** Makes such a lane. */
export function pruneLane(
  name: string,
  prune: (unit: Unit, input: PruneInput) => Promise<number>,
): PruneLane {
  return {
    name,
    locks: () => [],
    run: oneByOne(prune),
  };
}

/** Dependencies of the pruning of old rows. */
export interface PruningParts {
  readonly storage: Pick<Storage, 'now' | 'submit'>;
  /** How long rows are kept, in milliseconds; a round comes after a tenth of it, or after a minute. */
  readonly keptMs: number;
  readonly log: GatewayLog;
}

/** Prunes from when the gateway listens until it closes: a command beside a gateway need not have its settings. */
export function pruneWhileServing(
  app: FastifyInstance,
  lane: PruneLane,
  parts: PruningParts,
): void {
  let pruning: ReturnType<typeof startPruning> | null = null;
  app.addHook('onListen', async () => {
    // The hooks before this one may have waited until the gateway stopped.
    if (!app.container.cradle.stopping.aborted) pruning = startPruning(lane, parts);
  });
  app.addHook('onClose', async () => pruning?.stop());
}

/** Starts to delete old rows now and then, a portion at a time. Safe beside the rounds of other processes. */
export function startPruning(
  lane: PruneLane,
  { storage, keptMs, log }: PruningParts,
): { stop(): Promise<void> } {
  let stopped = false;
  const loop = new Loop(
    () => roundPause(keptMs),
    async () => {
      const before = (await storage.now()) - keptMs;
      let deleted = rowsAtOnce;
      while (deleted === rowsAtOnce && !stopped) {
        deleted = await storage.submit(lane, { before, limit: rowsAtOnce });
      }
    },
    (error) => log.warn({ err: error, lane: lane.name }, 'pruning of old rows failed'),
  );
  loop.rest();
  return {
    stop() {
      stopped = true;
      return loop.stop();
    },
  };
}
