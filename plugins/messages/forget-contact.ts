import type { Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import { deleteEvents, deleteMessages } from './delete-messages.ts';
import { failures } from './failures.ts';
import { logFailed } from './log-failed.ts';
import { failed } from './status.ts';

/** Why a contact is forgotten, as its messages say that were not sent yet. */
export type ForgetReason = 'contact_private' | 'contact_erased';

/**
 * Forgets a contact that is made private or erased, inside that change's transaction: its undispatched messages fail,
 * emptied and without an event, all others are deleted, and so are the events of all of them with their deliveries.
 */
export async function forgetContact(
  unit: Unit,
  tenantId: string,
  contactId: string,
  why: ForgetReason,
  log: GatewayLog,
): Promise<void> {
  const undispatched = await unit.messages.undispatchedOfContact(contactId);
  const changed = undispatched.flatMap(
    (message) => failed(message, failures[why](), unit.now)?.message ?? [],
  );
  await unit.messages.save(changed);
  logFailed(unit, log, changed);
  const kept = new Set(changed.map((message) => message.id));
  await unit.messages.blank([...kept]);
  const ids = await unit.messages.idsOfContact(contactId);
  await deleteMessages(
    unit,
    tenantId,
    ids.filter((id) => !kept.has(id)),
  );
  await deleteEvents(unit, tenantId, [...kept]);
}
