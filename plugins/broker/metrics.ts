import type { Metrics } from '../../core/contracts/metrics.ts';
import type { ClosableBroker, OnDropped } from './contract.ts';

/** Registers the counter of dropped messages; once for each process. */
export function dropMeter(metrics: Pick<Metrics, 'counter'>): OnDropped {
  const dropped = metrics.counter('gateway_broker_messages_dropped_total');
  return (buffer) => dropped.add({ buffer });
}

/** Shows the state of the broker of this process. */
export function showBroker(metrics: Pick<Metrics, 'gauge'>, broker: ClosableBroker): void {
  metrics.gauge('gateway_broker_up', () => [{ labels: {}, value: broker.ready() ? 1 : 0 }]);
  metrics.gauge('gateway_broker_messages_waiting', () => [{ labels: {}, value: broker.waiting }]);
}
