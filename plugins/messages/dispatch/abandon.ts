import type { Unit } from '../../../core/contracts/storage.ts';
import type { AccountReason } from '../../accounts/contract.ts';
import { failures } from '../failures.ts';
import type { MessageReporter } from '../message-reporter.ts';
import { answered, failed, takenByNetworkAt } from '../status.ts';
import { changeQueued, pageSize } from './change-queued.ts';

/**
 * Fails the queued messages of an account that is removed or logged out, inside that change's transaction. Of
 * one that was handed to the network and not answered nobody will hear again: it fails as uncertain, unless a
 * receipt has shown that it arrived.
 */
export async function abandonQueued(
  unit: Unit,
  accountId: string,
  reason: AccountReason,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<void> {
  while (await abandonSome(unit, accountId, reason, reporter));
}

/** Fails some of them, the oldest; answers whether there may be more. */
export async function abandonSome(
  unit: Unit,
  accountId: string,
  reason: AccountReason,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<boolean> {
  const queued = await unit.queuedMessages.queuedForChange(accountId, pageSize);
  const changed = await changeQueued(unit, reporter, queued, (message) => {
    if (message.dispatchedAt === null) {
      return failed(message, failures.account(reason), unit.now);
    }
    const takenAt = takenByNetworkAt(message);
    return takenAt === null
      ? failed(message, failures.delivery_uncertain(), unit.now)
      : answered(message, null, takenAt);
  });
  return changed === pageSize;
}
