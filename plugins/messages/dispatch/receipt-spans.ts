import { SpanKind } from '@opentelemetry/api';
import type { Unit } from '../../../core/contracts/storage.ts';
import { contextOf, endSpan, messagingAttributes, startSpan } from '../../../core/spans.ts';
import type { SessionBatch } from './session-batch.ts';

/** Records receipts once they are durable: a span each, from their decision to the commit. */
export function traceReceipts(
  unit: Pick<Unit, 'afterCommit'>,
  traced: SessionBatch['traced'],
): void {
  if (traced.length === 0) return;
  const startTime = new Date();
  unit.afterCommit(() => {
    for (const { message, receipt } of traced) {
      const account = { id: message.accountId, channel: message.channel };
      const span = startSpan(`receipt ${message.channel}`, {
        kind: SpanKind.CONSUMER,
        parent: contextOf(message.trace),
        attributes: () => ({
          ...messagingAttributes('receipt', message.id, account),
          'gateway.receipt': receipt.status,
        }),
        startTime,
      });
      endSpan(span, null);
    }
  });
}
