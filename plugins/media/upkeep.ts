import { GatewayError } from '../../core/errors.ts';
import { Loop } from '../../core/loop.ts';
import { roundPause } from '../../core/pruning.ts';
import type { MediaOwner } from './contract.ts';
import { Deletion, type DeletionParts } from './deletion.ts';
import type { Spool } from './fetching/spool.ts';
import { type Retention, retireLane, sweepSize } from './lanes.ts';

/** Dependencies of the sweep. */
export interface MediaUpkeepParts extends DeletionParts {
  readonly spool: Spool;
  readonly retention: Retention;
}

/** The sweep of one process; safe beside those of others. */
export interface Upkeep {
  /** Starts a sweep. */
  kick(): void;
  /** Deletes what a contact or a tenant has given up, see `MediaService.swept`. */
  sweepOf(owner: MediaOwner, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts the periodic sweep of this process: gives up files that are too old or without a message, and deletes them.
 */
export function startMediaUpkeep(parts: MediaUpkeepParts): Upkeep {
  const { retention, log } = parts;
  const stopping = new AbortController();
  const deletion = new Deletion(parts);
  const loop = new Loop(
    () => roundPause(retention.keptMs),
    () => sweep(parts, deletion, stopping.signal),
    (error) => log.warn({ err: error }, 'a sweep of the media failed'),
  );
  loop.kick();
  return {
    kick: () => loop.kick(),
    async sweepOf(owner, signal) {
      const cause = await deletion.of(owner, signal);
      if (cause !== null) throw new GatewayError('unavailable', { cause });
    },
    async stop() {
      stopping.abort();
      await loop.stop();
    },
  };
}

/** Runs one sweep; ends after the current step when `stop` aborts. */
export async function sweep(
  { storage, spool, retention, log }: MediaUpkeepParts,
  deletion: Deletion,
  stop: AbortSignal,
): Promise<void> {
  const fault = await spool.sweep();
  if (fault !== null) log.warn({ err: fault }, 'a file of the spool could not be deleted');
  let retired = sweepSize;
  while (retired >= sweepSize && !stop.aborted) {
    retired = await storage.submit(retireLane, retention);
  }
  await deletion.ofAll(stop);
}
