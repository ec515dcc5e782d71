import type { Lane } from '../../../core/contracts/storage.ts';
import { Loop } from '../../../core/loop.ts';
import type { EngineParts } from './environment.ts';
import type { EngineMetrics } from './metrics.ts';

/** How often the gauges are read anew. */
const gaugesMs = 10_000;

/** How often what is too old is deleted: often enough for the shortest times of a test. */
const slowestMs = 60_000;
const fastestMs = 500;

/** Rows that one transaction deletes. */
const rowsAtOnce = 1_000;

/** What is old enough to be deleted. */
interface ForgetInput {
  /** Made before this moment. */
  readonly before: number;
  readonly limit: number;
}

const forgetLane: Lane<ForgetInput, number> = {
  name: 'webhooks.forget',
  locks: () => [],
  async run(unit, inputs) {
    const deleted: number[] = [];
    for (const { before, limit } of inputs) {
      deleted.push(await unit.deliveries.deleteBefore(before, limit));
    }
    return deleted;
  },
};

/** Starts what is done now and then: deleting old deliveries, a portion at a time, and reading the gauges. */
export function startUpkeep(
  { storage, log, settings }: EngineParts,
  metrics: EngineMetrics,
): { stop(): Promise<void> } {
  const { logMs } = settings;
  const failed = (error: unknown): void => log.warn({ err: error }, 'a round of upkeep failed');
  let stopped = false;
  const forgetting = new Loop(
    () => Math.max(fastestMs, Math.min(slowestMs, logMs / 10)),
    async () => {
      const before = (await storage.now()) - logMs;
      let deleted = rowsAtOnce;
      while (deleted === rowsAtOnce && !stopped) {
        deleted = await storage.submit(forgetLane, { before, limit: rowsAtOnce });
      }
    },
    failed,
  );
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
    failed,
  );
  forgetting.kick();
  counting.kick();
  return {
    async stop() {
      stopped = true;
      await Promise.all([forgetting.stop(), counting.stop()]);
    },
  };
}
