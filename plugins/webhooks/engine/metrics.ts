import type { Labels, Metrics } from '../../../core/contracts/metrics.ts';
import type { Storage } from '../../../core/contracts/storage.ts';

/** Outcome of an attempt, or of a delivery that was not attempted. */
export type DeliveryOutcome = Labels<'gateway_webhook_deliveries_total'>['outcome'];

/** Metrics of the engine. */
export interface EngineMetrics {
  ended(outcome: DeliveryOutcome, count?: number): void;
  /** @param delayMs from the event to its delivery's first attempt, which is no replay */
  firstAttempt(delayMs: number): void;
  /** Another process has taken a receiver from this one. */
  leaseLost(): void;
}

/** Registers the engine's metrics; once for each process. */
export function engineMetrics(
  metrics: Metrics,
  storage: Pick<Storage, 'read' | 'now'>,
): EngineMetrics {
  const outcomes = metrics.counter('gateway_webhook_deliveries_total');
  const delay = metrics.histogram('gateway_webhook_first_attempt_delay_seconds');
  const leasesLost = metrics.counter('gateway_webhook_leases_lost_total');
  metrics.installation(
    [
      'gateway_webhook_deliveries_waiting',
      'gateway_webhook_oldest_first_attempt_seconds',
      'gateway_webhook_receivers',
    ],
    async () => {
      const { deliveries, receivers } = storage.read;
      const waiting = await deliveries.waiting();
      const { failing, paused } = await receivers.troubled();
      const at = await storage.now();
      const oldestMs = waiting.oldestFirst === null ? 0 : Math.max(0, at - waiting.oldestFirst);
      return {
        gateway_webhook_deliveries_waiting: [
          { labels: { attempt: 'first' }, value: waiting.first },
          { labels: { attempt: 'retry' }, value: waiting.retries },
        ],
        gateway_webhook_oldest_first_attempt_seconds: [{ labels: {}, value: oldestMs / 1_000 }],
        gateway_webhook_receivers: [
          { labels: { state: 'failing' }, value: failing },
          { labels: { state: 'paused' }, value: paused },
        ],
      };
    },
  );
  return {
    ended: (outcome, count = 1) => {
      if (count > 0) outcomes.add({ outcome }, count);
    },
    firstAttempt: (delayMs) => delay.observe({}, Math.max(0, delayMs) / 1_000),
    leaseLost: () => leasesLost.add({}),
  };
}
