import type { Metrics } from '../../core/contracts/metrics.ts';
import type { Storage } from '../../core/contracts/storage.ts';
import type { StoredMessage } from './tables/message-rows.ts';
import type { QueueCount } from './tables/queued-messages.ts';

/** Metrics of messages. */
export interface MessageMetrics {
  /** A message has reached its status. */
  reached(
    message: Pick<StoredMessage, 'channel' | 'status' | 'createdAt' | 'sentAt' | 'deliveredAt'>,
  ): void;
}

/** Registers the metrics of messages; once for each process. */
export function makeMessageMetrics(
  metrics: Pick<Metrics, 'counter' | 'histogram'>,
): MessageMetrics {
  const messages = metrics.counter('gateway_messages_total');
  const sent = metrics.histogram('gateway_message_sent_seconds');
  const delivered = metrics.histogram('gateway_message_delivered_seconds');
  return {
    reached({ channel, status, createdAt, sentAt, deliveredAt }) {
      messages.add({ channel, status });
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
