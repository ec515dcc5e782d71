import type { Unit } from '../../core/contracts/storage.ts';

/** Deletes messages of a tenant with the events about them and their deliveries; their media is given up. */
export async function deleteMessages(
  unit: Unit,
  tenantId: string,
  ids: readonly string[],
): Promise<void> {
  // Messages first: this waits for a transaction that raises an event about one, and the event is deleted below.
  await unit.messages.delete(ids);
  await deleteEvents(unit, tenantId, ids);
}

/** Deletes the events about messages with their deliveries. */
export async function deleteEvents(
  unit: Unit,
  tenantId: string,
  ids: readonly string[],
): Promise<void> {
  await unit.events.deleteOfSubjects(tenantId, ids);
  await unit.deliveries.deleteOfSubjects(tenantId, ids);
}
