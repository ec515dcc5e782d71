import type { Unit } from '../../core/contracts/storage.ts';
import { newId } from '../../core/ids.ts';
import { deleteEvents, deleteMessages } from './delete-messages.ts';
import { failures } from './failures.ts';
import type { MessageReporter } from './message-reporter.ts';
import { failed } from './status.ts';
import type { QueuePosition, StoredMessage } from './tables/message-rows.ts';

/** Why a contact is forgotten, as its messages say that were not sent yet. */
export type ForgetReason = 'contact_private' | 'contact_erased';

/** Messages of a contact that one transaction deletes: its tenant waits for milliseconds. */
const deletedAtOnce = 100;

/** Queued messages of a contact that are read at a time. */
const readAtOnce = 500;

/**
 * Begins to forget a contact that is made private, inside that change's transaction: its undispatched messages fail,
 * emptied and without an event, and some of the others are deleted. An erasure deletes the rest, where there is one.
 */
export async function forgetContact(
  unit: Unit,
  tenantId: string,
  contactId: string,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<void> {
  await failUndispatched(unit, tenantId, contactId, 'contact_private', reporter);
  if (!(await forgetSome(unit, tenantId, contactId))) return;
  const id = newId('fgt', unit.now);
  await unit.erasures.begin({ id, tenantId, contactId, address: null }, unit.now);
}

/** Fails the undispatched messages of a contact, emptied and without an event, and deletes what events there are of them. */
export async function failUndispatched(
  unit: Unit,
  tenantId: string,
  contactId: string,
  why: ForgetReason,
  reporter: Pick<MessageReporter, 'report'>,
): Promise<void> {
  for (const { accountId } of await unit.threads.ofContacts([contactId])) {
    let page: readonly Pick<QueuePosition, 'id' | 'sequence'>[];
    let after = 0;
    do {
      page = await unit.queuedMessages.queuedTo(accountId, contactId, after, readAtOnce);
      const messages = await unit.messages.forChange(page.map(({ id }) => id));
      await fail(unit, tenantId, messages, why, reporter);
      after = page.at(-1)?.sequence ?? after;
    } while (page.length === readAtOnce);
  }
}

async function fail(
  unit: Unit,
  tenantId: string,
  messages: readonly StoredMessage[],
  why: ForgetReason,
  reporter: Pick<MessageReporter, 'report'>,
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
 * Deletes some of the messages of an erased contact, but for those that the erasure failed, and its threads with the
 * last of them. Openers that the guard counts stay for as long: an erasure of their own deletes them then. Answers
 * whether there are more messages.
 * @param countedMs for which the guard counts an opener
 */
export async function eraseSome(
  unit: Unit,
  tenantId: string,
  contactId: string,
  countedMs: number,
): Promise<boolean> {
  if (await deleteSome(unit, tenantId, contactId, 'contact_erased')) return true;
  const last = await unit.threads.deleteButOpeners(contactId, unit.now - countedMs);
  if (last === null) return false;
  // One for each contact, however often this step is tried.
  const id = `opn${contactId.slice('con'.length)}`;
  await unit.erasures.begin({ id, tenantId, contactId, address: null }, last + countedMs);
  return false;
}

/** Deletes some of the messages of a private contact, but for those that failed as it is; answers whether there are more. */
export function forgetSome(unit: Unit, tenantId: string, contactId: string): Promise<boolean> {
  return deleteSome(unit, tenantId, contactId, 'contact_private');
}

async function deleteSome(
  unit: Unit,
  tenantId: string,
  contactId: string,
  butFailed: ForgetReason,
): Promise<boolean> {
  const kept = failures[butFailed]();
  const ids = await unit.contactMessages.someOfContact(contactId, kept, deletedAtOnce);
  await deleteMessages(unit, tenantId, ids);
  return ids.length === deletedAtOnce;
}
