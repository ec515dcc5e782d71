import { spread } from '../../core/backoff.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import type { MediaPlace } from './contract.ts';
import type { Spool } from './fetching/spool.ts';
import { forgetLane, type Retention, retireLane, sweepSize } from './lanes.ts';
import type { MediaStore } from './store/store.ts';

/** The fastest sweep: often enough for the shortest times of a test. */
const slowestMs = 60_000;
const fastestMs = 500;

/** Files deleted at once. */
const deletions = 8;

/** What the upkeep works with. */
export interface MediaUpkeepParts {
  readonly storage: Storage;
  readonly store: MediaStore;
  readonly spool: Spool;
  readonly retention: Retention;
  readonly log: GatewayLog;
}

/** The sweep of one process; safe beside those of others. */
export interface Upkeep {
  /** Sweeps now. */
  kick(): void;
  stop(): Promise<void>;
}

/**
 * Starts the periodic sweep of this process: gives up files that are too old or found no message, and deletes them. A
 * row goes only after its file, so that a failure is repeated.
 */
export function startMediaUpkeep(parts: MediaUpkeepParts): Upkeep {
  const { retention, log } = parts;
  const usual = Math.max(fastestMs, Math.min(slowestMs, retention.keptMs / 10));
  const stopping = new AbortController();
  const loop = new Loop(
    () => spread(usual, 0.2),
    () => sweep(parts, stopping.signal),
    (error) => log.warn({ err: error }, 'a sweep of the media failed'),
  );
  loop.kick();
  return {
    kick: () => loop.kick(),
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}

/** One round, ended early when `stop` aborts. */
export async function sweep(parts: MediaUpkeepParts, stop: AbortSignal): Promise<void> {
  const { storage, spool, retention } = parts;
  await spool.sweep();
  let retired = sweepSize;
  while (retired >= sweepSize && !stop.aborted) {
    retired = await storage.submit(retireLane, retention);
  }
  while (!stop.aborted) {
    const places = await storage.read.media.givenUp(sweepSize);
    const deleted = await deleteFiles(parts, places);
    if (deleted.length > 0) await storage.submit(forgetLane, deleted);
    // Those that could not be deleted would be read again: the next sweep tries them.
    if (deleted.length < sweepSize) return;
  }
}

/** Answers the keys of those that are gone. */
async function deleteFiles(
  { store, log }: MediaUpkeepParts,
  places: readonly MediaPlace[],
): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (let start = 0; start < places.length; start += deletions) {
    await Promise.all(
      places.slice(start, start + deletions).map(async (place) => {
        try {
          await store.remove(place);
          deleted.push(place.key);
        } catch (error) {
          log.warn({ err: error }, 'a file of the media store could not be deleted');
        }
      }),
    );
  }
  return deleted;
}
