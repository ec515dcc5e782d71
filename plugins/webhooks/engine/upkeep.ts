import { pruneLane, startPruning } from '../../../core/pruning.ts';
import type { EngineParts } from './parts.ts';

const pruneDeliveries = pruneLane('webhooks.prune', ({ deliveries }, { before, limit }) =>
  deliveries.deleteBefore(before, limit),
);

/** Starts the periodic work: deleting old deliveries, a portion at a time. */
export function startUpkeep({ storage, log, settings }: EngineParts): { stop(): Promise<void> } {
  return startPruning(pruneDeliveries, { storage, keptMs: settings.logMs, log });
}
