import type { Metrics } from '../../observability/contract.ts';

/** Buckets in seconds; the last ones are for deliveries that waited for a process to restart. */
const delayBuckets = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200,
];

/** Outcome of an attempt, or of a delivery that was not attempted. */
export type DeliveryOutcome = 'delivered' | 'retry' | 'failed' | 'suppressed';

/** Metrics of the engine. */
export interface EngineMetrics {
  ended(outcome: DeliveryOutcome, count?: number): void;
  /** @param delayMs from the event to its delivery's first attempt */
  firstAttempt(delayMs: number): void;
  /** Sets the gauges that are read from the database. */
  setGauges(retries: number, paused: number): void;
}

/** Registers the engine's metrics; once for each process. */
export function engineMetrics(metrics: Metrics): EngineMetrics {
  const outcomes = metrics.counter({
    name: 'gateway_webhook_deliveries_total',
    help: 'Webhook attempts by outcome, and deliveries suppressed without one.',
    labels: ['outcome'],
  });
  const delay = metrics.histogram(
    {
      name: 'gateway_webhook_first_attempt_delay_seconds',
      help: "Time from an event to its delivery's first attempt.",
      labels: [],
    },
    delayBuckets,
  );
  const gauges = { retries: 0, paused: 0 };
  metrics.gauge(
    {
      name: 'gateway_webhook_waiting_retries',
      help: 'Webhook deliveries of all processes that wait for a retry.',
    },
    () => gauges.retries,
  );
  metrics.gauge(
    {
      name: 'gateway_webhook_paused_receivers',
      help: 'Webhook addresses of all tenants that are paused.',
    },
    () => gauges.paused,
  );
  return {
    ended: (outcome, count = 1) => {
      if (count > 0) outcomes.add({ outcome }, count);
    },
    firstAttempt: (delayMs) => delay.observe({}, Math.max(0, delayMs) / 1_000),
    setGauges: (retries, paused) => Object.assign(gauges, { retries, paused }),
  };
}
