import type { Unit } from '../../../core/contracts/storage.ts';
import type { SessionBatch } from './session-batch.ts';
import type { SessionInput } from './session-input.ts';

/**
 * Messages queued before the next ones to the same contacts, by the ids of those: they may be in the conversation of a
 * contact that has become one with it. Asked only for contacts that were merged, which are few.
 */
export async function findEarlier(
  unit: Unit,
  inputs: readonly SessionInput[],
  batch: SessionBatch,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const earlier = new Map<string, readonly string[]>();
  for (const { fence, step } of inputs) {
    const { outcomes = [], next = [] } = step?.() ?? {};
    for (const { id } of next) {
      const found = batch.find(fence.id, id);
      if (found?.contact.wasMerged !== true || found.message.sequence === null) continue;
      const { contactId, sequence } = found.message;
      // Those with an outcome may be over by the time the next one is decided on.
      const most = outcomes.length + 1;
      earlier.set(id, await unit.queuedMessages.idsBefore(fence.id, contactId, sequence, most));
    }
  }
  return earlier;
}
