import type { Lane } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';

/**
 * Sequence numbers per millisecond of time, by which cursors go on after a restore. Nothing counts as fast, so the new
 * numbers are behind all earlier ones, those of another restore included.
 */
const numbersPerMs = 1_000;

/** By which they go on at least, where a clock is behind the one of an earlier restore. */
const leastStep = 1_000_000;

/**
 * Settling of a restored database, before a gateway serves it. A message queued in the backup may have been sent since,
 * so it counts as dispatched: it is repeated under its reference where the network drops repeats, else it fails as
 * uncertain. The sequences of cursors jump far ahead. Answers how many messages were queued.
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
