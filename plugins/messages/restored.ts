import type { Lane } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';

/**
 * Numbers that clients have in cursors go on at the moment of the restore, counted like this: nothing counts as fast, so
 * they are behind all that were given out before, also since another restore of the same backup or of a later one.
 */
const numbersPerMs = 1_000;

/** By which they go on at least, where a clock is behind the one of an earlier restore. */
const leastStep = 1_000_000;

/**
 * Settles what a backup cannot have, before a gateway serves what was restored. A message that was queued in it may have
 * been handed to the network since: it is taken for that, so that it is repeated under its reference where the network
 * drops repeats, else it fails as uncertain. And the numbers that cursors have go on far behind those that were given out
 * since. Answers how many messages were queued.
 */
export const settleRestored: Lane<void, number> = {
  name: 'messages.restored',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit) => {
    const queued = await unit.queuedMessages.takeForDispatched(unit.now);
    const reached = unit.now * numbersPerMs;
    await unit.tenants.advanceInboundSequences(leastStep, reached);
    await unit.feed.advance(leastStep, reached);
    return queued;
  }),
};
