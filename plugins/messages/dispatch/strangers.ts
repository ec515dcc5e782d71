import type { Unit } from '../../../core/contracts/storage.ts';
import { threadKey } from '../threads.ts';
import type { SessionBatch } from './session-batch.ts';
import type { SessionInput } from './session-input.ts';

/**
 * Which contacts never wrote to the account and were never reached by it. Asked only for accounts that the
 * network keeps from strangers, which are few.
 */
export async function findStrangers(
  unit: Unit,
  inputs: readonly SessionInput[],
  batch: SessionBatch,
): Promise<ReadonlySet<string>> {
  const strangers = new Set<string>();
  for (const { fence, step } of inputs) {
    const found = batch.find(fence.id, step?.next?.id);
    if (step === null || step.closedToStrangers === null || found === null) continue;
    const key = { accountId: fence.id, contactId: found.message.contactId };
    const [thread] = await unit.threads.byKeys([key]);
    const opened = thread !== undefined && thread.inboundAt === null && thread.openedAt !== null;
    if (!opened) continue;
    const reached = await unit.messages.reached(key.accountId, [key.contactId]);
    if (reached.length === 0) strangers.add(threadKey(key.accountId, key.contactId));
  }
  return strangers;
}
