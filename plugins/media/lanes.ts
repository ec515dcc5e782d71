import type { Lane } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { writeLane } from '../../core/write-lane.ts';
import type { MediaLocation } from './contract.ts';

/** Rows that one transaction of the sweep takes. */
export const sweepSize = 200;

/** Stores the row of a file before the file, so that no file is without a row. */
export const announceLane = writeLane<MediaLocation>(
  'media.announce',
  ({ media, now }, locations) => media.announce(locations, now),
);

/** Gives up files whose message was not stored. */
export const discardLane = writeLane<MediaLocation>('media.discard', ({ media, now }, locations) =>
  media.giveUpWaiting(locations, now),
);

/** How long files are kept, and how long they may wait for their message. Milliseconds. */
export interface Retention {
  readonly keptMs: number;
  readonly waitingMs: number;
}

/** Gives up old files, a bounded number, and answers how many. Their messages lose the link to the media. */
export const retireLane: Lane<Retention, number> = {
  name: 'media.retire',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit, { keptMs, waitingMs }) => {
    const age = { keptBefore: unit.now - keptMs, waitingBefore: unit.now - waitingMs };
    const { count, messageIds } = await unit.media.giveUpOld(age, sweepSize);
    await unit.messages.forgetMedia(messageIds);
    return count;
  }),
};

/** Deletes the rows of deleted files. */
export const deleteMediaRowsLane = writeLane<readonly string[]>(
  'media.forget',
  ({ media }, inputs) => media.delete(inputs.flat()),
);
