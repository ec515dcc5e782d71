import { SpanKind } from '@opentelemetry/api';
import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { Unit } from '../../../core/contracts/storage.ts';
import { contextOf, endSpan, messagingAttributes, startSpan } from '../../../core/spans.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import { receive } from '../status.ts';
import type { SessionBatch } from './session-batch.ts';

/**
 * Enters receipts, which move messages forward, each with its event; answers those whose messages an answer may yet
 * name. Called by the session lane.
 */
export function enterReceipts(
  batch: SessionBatch,
  { id: accountId }: LeaseToken,
  receipts: readonly ReceiptEvent[],
): readonly ReceiptEvent[] {
  const left: ReceiptEvent[] = [];
  for (const receipt of receipts) {
    const { reference, networkId } = receipt;
    const found = batch.find(accountId, reference) ?? batch.findNamed(accountId, networkId);
    if (found === null) {
      if (mayBeAnswered(receipt)) left.push(receipt);
      continue;
    }
    const change = receive(found.message, receipt);
    if (change === null) continue;
    batch.enter(change, found.contact);
    if (found.message.trace !== null) batch.traced.push({ message: found.message, receipt });
  }
  return left;
}

/**
 * Whether a receipt that names no message may have an id which the answer of a send will bring. An id that is its
 * reference is none: the owner wrote on the phone itself.
 */
function mayBeAnswered({ reference, networkId }: ReceiptEvent): boolean {
  return networkId !== null && networkId !== reference;
}

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
