import { Loop } from '../../../core/loop.ts';
import { pruneLane, startPruning } from '../../../core/pruning.ts';
import type { EngineMetrics } from './metrics.ts';
import type { EngineParts } from './parts.ts';

/** Interval of the gauges. */
const gaugesMs = 10_000;

const pruneDeliveries = pruneLane('webhooks.prune', ({ deliveries }, { before, limit }) =>
  deliveries.deleteBefore(before, limit),
);

/** Starts the periodic work: deleting old deliveries, a portion at a time, and reading the gauges. */
export function startUpkeep(
  { storage, log, settings }: EngineParts,
  metrics: EngineMetrics,
): { stop(): Promise<void> } {
  const pruning = startPruning(pruneDeliveries, { storage, keptMs: settings.logMs, log });
  const counting = new Loop(
    () => gaugesMs,
    async () => {
      const { deliveries, receivers } = storage.read;
      const [retries, paused] = await Promise.all([
        deliveries.waitingRetries(),
        receivers.paused(),
      ]);
      metrics.setGauges(retries, paused);
    },
    (error) => log.warn({ err: error }, 'reading the gauges of webhooks failed'),
  );
  counting.kick();
  return {
    async stop() {
      await Promise.all([pruning.stop(), counting.stop()]);
    },
  };
}
