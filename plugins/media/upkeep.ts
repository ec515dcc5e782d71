import { spread } from '../../core/backoff.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import type { MediaLocation } from './contract.ts';
import type { Spool } from './fetching/spool.ts';
import { forgetLane, type Retention, retireLane, sweepSize } from './lanes.ts';
import type { MediaStore } from './store/store.ts';
import type { GivenUpPage, MediaPosition } from './tables/media.ts';

/** Bounds of the time between two sweeps; the shorter one is for tests. */
const slowestMs = 60_000;
const fastestMs = 500;

/** Maximum concurrent deletions. */
const deletions = 8;

/** Dependencies of the sweep. */
export interface MediaUpkeepParts {
  readonly storage: Storage;
  readonly store: MediaStore;
  readonly spool: Spool;
  readonly retention: Retention;
  readonly log: GatewayLog;
}

/** The sweep of one process; safe beside those of others. */
export interface Upkeep {
  /** Starts a sweep. */
  kick(): void;
  /** Deletes what a tenant has given up, see `MediaService.swept`. */
  sweepOf(tenantId: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the periodic sweep of this process: gives up files that are too old or without a message, and deletes them. A
 * row is deleted after its file, so that a failed deletion is repeated.
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
    sweepOf: (tenantId) => sweepOf(parts, tenantId, stopping.signal),
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}

/** Runs one sweep; ends after the current step when `stop` aborts. */
export async function sweep(parts: MediaUpkeepParts, stop: AbortSignal): Promise<void> {
  const { storage, spool, retention } = parts;
  await spool.sweep();
  let retired = sweepSize;
  while (retired >= sweepSize && !stop.aborted) {
    retired = await storage.submit(retireLane, retention);
  }
  while (!stop.aborted) {
    const locations = await storage.read.media.givenUp(sweepSize);
    const deleted = await deleteFiles(parts, locations, stop);
    if (deleted.length > 0) await storage.submit(forgetLane, deleted);
    // Files that could not be deleted would be read again: the next sweep tries them.
    if (deleted.length < sweepSize) return;
  }
}

/** Deletes what a tenant has given up; a file that fails holds up no other while the store is there. */
async function sweepOf(
  parts: MediaUpkeepParts,
  tenantId: string,
  stop: AbortSignal,
): Promise<void> {
  const { storage } = parts;
  let isClean = true;
  for (let after: MediaPosition | undefined = [0, '']; after !== undefined && !stop.aborted; ) {
    const page: GivenUpPage = await storage.read.media.givenUpOf(tenantId, after, sweepSize);
    const deleted = await deleteFiles(parts, page.files, stop);
    if (deleted.length > 0) await storage.submit(forgetLane, deleted);
    if (deleted.length < page.files.length) isClean = false;
    after = isClean || deleted.length > 0 ? page.next : undefined;
  }
  if (isClean && !stop.aborted) return;
  throw new GatewayError('unavailable', { cause: new Error('a file is not deleted yet') });
}

/** Deletes files, until none of those at a time can be; answers the keys of those that were deleted. */
async function deleteFiles(
  { store, log }: MediaUpkeepParts,
  locations: readonly MediaLocation[],
  stop: AbortSignal,
): Promise<readonly string[]> {
  const deleted: string[] = [];
  for (let start = 0; start < locations.length && !stop.aborted; start += deletions) {
    const before = deleted.length;
    await Promise.all(
      locations.slice(start, start + deletions).map(async (location) => {
        try {
          await store.remove(location);
          deleted.push(location.key);
        } catch (error) {
          if (stop.aborted) return;
          log.warn({ err: error }, 'a file of the media store could not be deleted');
        }
      }),
    );
    // The store is away: a sweep that waited for each of the others would last for minutes.
    if (deleted.length === before) break;
  }
  return deleted;
}
