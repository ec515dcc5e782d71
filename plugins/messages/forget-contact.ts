import type { Unit } from '../../core/contracts/storage.ts';
import { newId } from '../../core/ids.ts';
import { deleteEvents, deleteMessages } from './delete-messages.ts';
import { failures } from './failures.ts';
import type { MessageReporter } from './message-reporter.ts';
import { failed } from './status.ts';
import type { StoredMessage } from './tables/message-rows.ts';

/** Why a contact is forgotten, as its messages say that were not sent yet. */
export type ForgetReason = 'contact_private' | 'contact_erased';

/** Messages of a contact that one transaction fails, and that it deletes: its tenant waits for milliseconds. */
const atOnce = 100;

/** Tells of messages that failed. */
type Reporting = Pick<MessageReporter, 'report'>;

/**
 * Begins to forget a contact that is made private, inside that change's transaction: some of its undispatched messages
 * fail, emptied and without an event, and then some of the others are deleted. An erasure goes on with the rest.
 */
export async function forgetContact(
  unit: Unit,
  tenantId: string,
  contactId: string,
  reporter: Reporting,
): Promise<void> {
  if (!(await forgetSome(unit, tenantId, contactId, reporter))) return;
  const id = newId('fgt', unit.now);
  await unit.erasures.begin({ id, tenantId, contactId, address: null }, unit.now);
}

/**
 * Fails some of the undispatched messages of a contact, emptied and without an event, and deletes what events there are of
 * them. Answers whether there may be more, none of which is sent: the contact is private.
 */
export async function failUndispatched(
  unit: Unit,
  tenantId: string,
  contactId: string,
  why: ForgetReason,
  reporter: Reporting,
): Promise<boolean> {
  let left = atOnce;
  for (const { accountId } of await unit.threads.ofContacts([contactId])) {
    const ids = await unit.queuedMessages.undispatchedTo(accountId, contactId, left);
    const messages = await unit.messages.forChange(ids);
    await fail(unit, tenantId, messages, why, reporter);
    left -= ids.length;
    if (left === 0) return true;
  }
  return false;
}

async function fail(
  unit: Unit,
  tenantId: string,
  messages: readonly StoredMessage[],
  why: ForgetReason,
  reporter: Reporting,
): Promise<void> {
  const changed = messages
    .filter((message) => message.dispatchedAt === null)
    .flatMap((message) => failed(message, failures[why](), unit.now)?.message ?? []);
  const ids = changed.map(({ id }) => id);
  await unit.messages.save(changed);
  await unit.messages.blank(ids);
  await deleteEvents(unit, tenantId, ids);
  await reporter.report(unit, changed);
}

/**
 * Fails some of the undispatched messages of an erased contact. Once there are none it deletes some of the others, and
 * its threads with the last of them. Openers that the guard counts stay for as long: an erasure of their own deletes them
 * then. Answers whether there are more messages.
 * @param countedMs for which the guard counts an opener
 */
export async function eraseSome(
  unit: Unit,
  tenantId: string,
  contactId: string,
  countedMs: number,
  reporter: Reporting,
): Promise<boolean> {
  if (await endSome(unit, tenantId, contactId, 'contact_erased', reporter)) return true;
  const last = await unit.threads.deleteButOpeners(contactId, unit.now - countedMs);
  if (last === null) return false;
  // One for each contact, however often this step is tried.
  const id = `opn${contactId.slice('con'.length)}`;
  await unit.erasures.begin({ id, tenantId, contactId, address: null }, last + countedMs);
  return false;
}

/** The same for a private contact, but for its threads. */
export function forgetSome(
  unit: Unit,
  tenantId: string,
  contactId: string,
  reporter: Reporting,
): Promise<boolean> {
  return endSome(unit, tenantId, contactId, 'contact_private', reporter);
}

async function endSome(
  unit: Unit,
  tenantId: string,
  contactId: string,
  why: ForgetReason,
  reporter: Reporting,
): Promise<boolean> {
  // Before any is deleted: what is not sent yet stays, to say why.
  if (await failUndispatched(unit, tenantId, contactId, why, reporter)) return true;
  const ids = await unit.contactMessages.someOfContact(contactId, failures[why](), atOnce);
  await deleteMessages(unit, tenantId, ids);
  return ids.length === atOnce;
}
