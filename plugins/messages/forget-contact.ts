import type { Unit } from '../../core/contracts/storage.ts';
import { deleteEvents, deleteMessages } from './delete-messages.ts';
import { failures } from './failures.ts';
import type { MessageReporter } from './message-reporter.ts';
import { failed } from './status.ts';

/** Why a contact is forgotten, as its messages say that were not sent yet. */
export type ForgetReason = 'contact_private' | 'contact_erased';

/** Messages of an erased contact that one transaction deletes: its tenant waits for milliseconds. */
const erasedAtOnce = 100;

/**
 * Forgets a contact that is made private, inside that change's transaction: its undispatched messages fail, emptied and
 * without an event, all others are deleted, and so are the events of all of them with their deliveries.
 */
export async function forgetContact(
  unit: Unit,
  tenantId: string,
  contactId: string,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<void> {
  const kept = new Set(
    await failUndispatched(unit, tenantId, contactId, 'contact_private', reporter),
  );
  const ids = await unit.contactMessages.idsOfContact(contactId);
  await deleteMessages(
    unit,
    tenantId,
    ids.filter((id) => !kept.has(id)),
  );
}

/**
 * Fails the undispatched messages of a contact, emptied and without an event, and deletes what events there are of them;
 * answers their ids.
 */
export async function failUndispatched(
  unit: Unit,
  tenantId: string,
  contactId: string,
  why: ForgetReason,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<readonly string[]> {
  const undispatched = await unit.contactMessages.undispatchedOfContact(contactId);
  const changed = undispatched.flatMap(
    (message) => failed(message, failures[why](), unit.now)?.message ?? [],
  );
  await unit.messages.save(changed);
  reporter.report(unit, changed);
  const ids = changed.map((message) => message.id);
  await unit.messages.blank(ids);
  await deleteEvents(unit, tenantId, ids);
  return ids;
}

/**
 * Deletes some of the messages of an erased contact, but for those that the erasure failed, and its threads with the
 * last of them. Answers whether there are more.
 */
export async function eraseSome(unit: Unit, tenantId: string, contactId: string): Promise<boolean> {
  const kept = failures.contact_erased();
  const ids = await unit.contactMessages.someOfContact(contactId, kept, erasedAtOnce);
  await deleteMessages(unit, tenantId, ids);
  if (ids.length === erasedAtOnce) return true;
  await unit.threads.deleteOfContact(contactId);
  return false;
}
