import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import { receive } from '../status.ts';
import type { SessionBatch } from './session-batch.ts';

/**
 * Enters receipts, which move messages forward, each with its event, up to the first that names no message of the
 * account; answers that one and those behind it. Called by the session lane.
 */
export function enterReceipts(
  batch: SessionBatch,
  { id: accountId }: LeaseToken,
  receipts: readonly ReceiptEvent[],
): readonly ReceiptEvent[] {
  for (const [n, receipt] of receipts.entries()) {
    const { reference, networkId } = receipt;
    const found = batch.find(accountId, reference) ?? batch.findNamed(accountId, networkId);
    if (found === null) return receipts.slice(n);
    const change = receive(found.message, receipt);
    if (change === null) continue;
    batch.enter(change, found.contact);
    if (found.message.trace !== null) batch.traced.push({ message: found.message, receipt });
  }
  return [];
}
