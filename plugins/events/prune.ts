import { pruneLane } from '../../core/pruning.ts';

/** Deletes old events, fanned out or not. */
export const pruneEvents = pruneLane('events.prune', ({ events }, { before, limit }) =>
  events.deleteBefore(before, limit),
);
