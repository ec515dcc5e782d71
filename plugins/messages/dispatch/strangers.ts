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
  const nexts = inputs.flatMap(({ fence, step }) => {
    const { closedToStrangers = null, next = [] } = step?.() ?? {};
    return closedToStrangers === null ? [] : next.map(({ id }) => ({ accountId: fence.id, id }));
  });
  for (const { accountId, id } of nexts) {
    const contactId = batch.find(accountId, id)?.contact.id;
    if (contactId === undefined) continue;
    const [thread] = await unit.threads.byKeys([{ accountId, contactId }]);
    const opened = thread !== undefined && thread.inboundAt === null && thread.openedAt !== null;
    if (!opened) continue;
    const reached = await unit.contactMessages.reached(accountId, [contactId]);
    if (reached.length === 0) strangers.add(threadKey(accountId, contactId));
  }
  return strangers;
}
