import type { Unit } from '../../../core/contracts/storage.ts';
import type { AccountReason } from '../../accounts/contract.ts';
import { failures } from '../failures.ts';
import type { MessageReporter } from '../message-reporter.ts';
import { givenUp } from '../status.ts';
import type { QueuePart } from '../tables/queued-messages.ts';
import { changedAtOnce, changeQueued } from './change-queued.ts';

/**
 * Fails the queued messages of an account that is removed or logged out: some inside that change's transaction, of a long
 * queue the rest soon after it, and none is sent meanwhile. While the queue of an earlier link is still failing, none
 * fails here: all of them wait for that queue to end.
 */
export async function abandonQueued(
  unit: Unit,
  accountId: string,
  reason: AccountReason,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<void> {
  const isFailing = (await unit.queuedMessages.abandoned(accountId)) !== undefined;
  const isMore = isFailing || (await abandonSome(unit, accountId, reason, reporter));
  if (isMore) await unit.queuedMessages.abandon(accountId, reason);
}

/** Fails some of them, the oldest; answers whether there may be more. */
export async function abandonSome(
  unit: Unit,
  accountId: string,
  reason: AccountReason,
  reporter: Pick<MessageReporter, 'report'>,
  part: QueuePart = {},
): Promise<boolean> {
  const queued = await unit.queuedMessages.queuedForChange(accountId, changedAtOnce, part);
  await changeQueued(unit, reporter, queued, (message) =>
    givenUp(message, failures.account(reason), unit.now, reason),
  );
  return queued.length === changedAtOnce;
}
