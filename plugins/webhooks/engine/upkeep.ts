import { type PruneLane, pruneLane, startPruning } from '../../../core/pruning.ts';
import type { EngineParts, EngineSettings } from './parts.ts';

/** Deletes old deliveries, and those that wait once their events are gone. */
function pruneDeliveries({ logMs, eventsMs }: EngineSettings): PruneLane {
  const longerMs = Math.max(0, eventsMs - logMs);
  return pruneLane('webhooks.prune', ({ deliveries }, { before, limit }) =>
    deliveries.deleteBefore(before, before - longerMs, limit),
  );
}

/** Deletes receivers whose subscriptions have all ended. */
export const pruneReceivers = pruneLane(
  'webhooks.prune-receivers',
  ({ receivers }, { before, limit }) => receivers.deleteUnused(before, limit),
);

/** Starts the periodic work: deleting old deliveries and unused receivers, a portion at a time. */
export function startUpkeep({ storage, log, settings }: EngineParts): { stop(): Promise<void> } {
  const running = [pruneDeliveries(settings), pruneReceivers].map((lane) =>
    startPruning(lane, { storage, keptMs: settings.logMs, log }),
  );
  return {
    async stop() {
      await Promise.all(running.map((one) => one.stop()));
    },
  };
}
