import { pruneLane } from '../../core/pruning.ts';
import { dayMs, dayOf, mostDays } from './days.ts';

/** How long counters are kept: a day longer than they are shown, as a read may begin before midnight. */
export const keptCountersMs = mostDays * dayMs;

/** Deletes counters of days past, and which limit events were raised on them. */
export const pruneCounters = pruneLane('limits.prune', async (unit, { before, limit }) => {
  const day = dayOf(before);
  let deleted = 0;
  for (const table of [unit.usage, unit.refusals, unit.limitNotices]) {
    deleted += await table.deleteBefore(day, limit - deleted);
    if (deleted >= limit) break;
  }
  return deleted;
});
