import { pruneLane, startPruning } from '../../../core/pruning.ts';
import type { EngineParts } from './parts.ts';

const pruneDeliveries = pruneLane('webhooks.prune', ({ deliveries }, { before, limit }) =>
  deliveries.deleteBefore(before, limit),
);

/** Deletes receivers whose subscriptions have all ended. */
export const pruneReceivers = pruneLane(
  'webhooks.prune-receivers',
  ({ receivers }, { before, limit }) => receivers.deleteUnused(before, limit),
);

/** Starts the periodic work: deleting old deliveries and unused receivers, a portion at a time. */
export function startUpkeep({ storage, log, settings }: EngineParts): { stop(): Promise<void> } {
  const running = [pruneDeliveries, pruneReceivers].map((lane) =>
    startPruning(lane, { storage, keptMs: settings.logMs, log }),
  );
  return {
    async stop() {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}
