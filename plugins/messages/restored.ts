import type { Lane } from '../../core/contracts/storage.ts';

/** Added to numbers that clients have in cursors, more than anything can have counted since a backup was made. */
const step = 1_000_000_000;

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
  async run(unit, inputs) {
    const counts: number[] = [];
    for (const _ of inputs) {
      counts.push(await unit.queuedMessages.takeForDispatched(unit.now));
      await unit.tenants.advanceInboundSequences(step);
      await unit.feed.advance(step);
    }
    return counts;
  },
};
