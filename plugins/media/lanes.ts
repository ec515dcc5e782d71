import type { Lane, Lock } from '../../core/contracts/storage.ts';
import type { MediaPlace } from './contract.ts';

/** Rows that one transaction of the sweep takes. */
export const sweepSize = 200;

const noLocks = (): readonly Lock[] => [];

/** Stores the row of a coming file, so that no file is without one. */
export const announceLane: Lane<MediaPlace, void> = {
  name: 'media.announce',
  locks: noLocks,
  async run(unit, places) {
    await unit.media.announce(places, unit.now);
    return places.map(() => undefined);
  },
};

/** Gives up files that found no message. */
export const discardLane: Lane<string, void> = {
  name: 'media.discard',
  locks: noLocks,
  async run(unit, keys) {
    await unit.media.giveUpWaiting(keys);
    return keys.map(() => undefined);
  },
};

/** How long files are kept, and how long they may wait for their message. Milliseconds. */
export interface Retention {
  readonly keptMs: number;
  readonly waitingMs: number;
}

/** Gives up what is too old: a bounded number, which is answered. Messages then say no more where their media is. */
export const retireLane: Lane<Retention, number> = {
  name: 'media.retire',
  maxBatch: 1,
  locks: noLocks,
  async run(unit, inputs) {
    const counts: number[] = [];
    for (const { keptMs, waitingMs } of inputs) {
      const age = { keptBefore: unit.now - keptMs, waitingBefore: unit.now - waitingMs };
      const { count, messageIds } = await unit.media.giveUpOld(age, sweepSize);
      await unit.messages.forgetMedia(messageIds);
      counts.push(count);
    }
    return counts;
  },
};

/** Deletes the rows of deleted files. */
export const forgetLane: Lane<readonly string[], void> = {
  name: 'media.forget',
  locks: noLocks,
  async run(unit, inputs) {
    await unit.media.delete(inputs.flat());
    return inputs.map(() => undefined);
  },
};
