import type { SendAnswer } from '../../../core/contracts/messages.ts';
import { newMessage } from '../tables/message-rows.ts';
import type { SendingAccount, SendingContact } from '../tables/sending-rows.ts';
import { threadKey } from '../threads.ts';
import { answerKey, enterNames, type SendBatch } from './batch.ts';
import type { SendInput } from './input.ts';

/** Enters an accepted send into the batch: its message, contact, thread, counters and Idempotency-Key. */
export function enter(
  batch: SendBatch,
  account: SendingAccount,
  contact: SendingContact,
  send: SendInput,
  answer: SendAnswer,
): void {
  const { now } = batch;
  const newContact = contact.uncounted;
  if (newContact) enterCounted(batch, { ...contact, uncounted: false });
  const thread = threadKey(account.id, contact.id);
  const opener = !batch.threads.has(thread);
  if (opener) {
    const opened = {
      accountId: account.id,
      contactId: contact.id,
      openedAt: now,
      inboundAt: null,
    };
    batch.threads.add(thread);
    batch.newThreads.set(thread, opened);
    listOf(batch.openers, account.id).push(now);
  }
  listOf(batch.outbound, contact.id).push(now);
  count(batch, send.tenantId, '', newContact);
  count(batch, send.tenantId, account.id, newContact);
  const sequence = (batch.sequences.get(account.id) ?? account.sequence) + 1;
  batch.sequences.set(account.id, sequence);
  batch.newMessages.push({
    id: send.id,
    tenantId: send.tenantId,
    accountId: account.id,
    channel: account.channel,
    contactId: contact.id,
    direction: 'outbound',
    text: send.text,
    media: send.media,
    status: 'queued',
    createdAt: now,
    ...newMessage,
    sequence,
    opener,
    trace: send.trace,
  });
  if (send.idempotency !== null) {
    const record = { tenantId: send.tenantId, ...send.idempotency, answer, createdAt: now };
    batch.keys.set(answerKey(send.tenantId, record.keyHash), record);
    batch.newKeys.push(record);
  }
}

/** Enters a contact that has just been counted: one that is new, or was made without a message. */
function enterCounted(batch: SendBatch, contact: SendingContact): void {
  const isStored = batch.contacts.has(contact.id);
  batch.contacts.set(contact.id, contact);
  if (isStored) {
    batch.counted.push(contact.id);
    return;
  }
  // The next send of this batch to the same number or address finds it there.
  enterNames(batch.contactsByName, contact);
  batch.newContacts.push({
    ...contact,
    name: '',
    nameSet: false,
    automationPaused: false,
    createdAt: batch.now,
  });
}

function count(batch: SendBatch, tenantId: string, accountId: string, newContact: boolean): void {
  const key = accountId === '' ? tenantId : accountId;
  const total = batch.counts.get(key) ?? { sends: 0, newContacts: 0 };
  const added = batch.newCounts.get(key) ?? { tenantId, accountId, sends: 0, newContacts: 0 };
  for (const counter of [total, added]) {
    counter.sends += 1;
    if (newContact) counter.newContacts += 1;
  }
  batch.counts.set(key, total);
  batch.newCounts.set(key, added);
}

/** The list of a key, made where there is none. */
export function listOf(lists: Map<string, number[]>, key: string): number[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
