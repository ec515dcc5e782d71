import type { Metrics } from '../../core/contracts/metrics.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import { metricTable } from '../../core/metrics/table.ts';
import type { TenantMode } from '../tenants/contract.ts';
import { failureClass } from './failure-class.ts';
import type { StoredMessage } from './tables/message-rows.ts';
import type { QueueCount } from './tables/queued-messages.ts';

const failureClasses = metricTable.gateway_message_failures_total.labels.class;

/** Metrics of messages. */
export interface MessageMetrics {
  /** A message has reached its status. */
  reached(
    message: Pick<
      StoredMessage,
      'channel' | 'status' | 'error' | 'createdAt' | 'sentAt' | 'deliveredAt'
    >,
    mode: TenantMode,
  ): void;
}

/** Registers the metrics of messages; once for each process. */
export function makeMessageMetrics(
  metrics: Pick<Metrics, 'counter' | 'histogram'>,
  channels: readonly string[],
): MessageMetrics {
  const messages = metrics.counter('gateway_messages_total');
  const failures = metrics.counter('gateway_message_failures_total');
  const sent = metrics.histogram('gateway_message_sent_seconds');
  const delivered = metrics.histogram('gateway_message_delivered_seconds');
  // A failure is rare: without a zero before it no rate would show the first ones.
  for (const channel of channels) {
    for (const mode of ['live', 'test'] as const) {
      for (const status of ['sent', 'failed']) messages.of({ channel, mode, status });
      for (const name of failureClasses) failures.of({ channel, mode, class: name });
    }
  }
  return {
    reached({ channel, status, error, createdAt, sentAt, deliveredAt }, mode) {
      messages.add({ channel, mode, status });
      if (status === 'failed') failures.add({ channel, mode, class: failureClass(error) });
      if (status === 'sent' && sentAt !== null) {
        sent.observe({ channel }, (sentAt - createdAt) / 1_000);
      } else if (status === 'delivered' && deliveredAt !== null) {
        delivered.observe({ channel }, (deliveredAt - createdAt) / 1_000);
      }
    },
  };
}

/** Shows the queues of all accounts. */
export function showQueues(
  metrics: Pick<Metrics, 'installation'>,
  storage: Pick<Storage, 'read' | 'now'>,
): void {
  metrics.installation(
    [
      'gateway_messages_queued',
      'gateway_messages_oldest_queued_seconds',
      'gateway_messages_stalled_seconds',
    ],
    async () => {
      const queues = await storage.read.queuedMessages.queues();
      const at = await storage.now();
      const ageS = (moment: number): number => Math.max(0, at - moment) / 1_000;
      const show = (value: (queue: QueueCount) => number) =>
        queues.map((queue) => {
          const { channel, mode, status: account_status } = queue;
          return { labels: { channel, mode, account_status }, value: value(queue) };
        });
      return {
        gateway_messages_queued: show(({ queued }) => queued),
        gateway_messages_oldest_queued_seconds: show(({ oldest }) => ageS(oldest)),
        gateway_messages_stalled_seconds: show(({ stalledSince }) => ageS(stalledSince)),
      };
    },
  );
}
