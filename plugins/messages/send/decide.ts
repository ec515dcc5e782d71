import type { SendAnswer } from '../../../core/contracts/messages.ts';
import { GatewayError } from '../../../core/errors.ts';
import { timestamp } from '../../../core/schemas.ts';
import { mayUse } from '../../../core/scopes.ts';
import { limitEvent } from '../events.ts';
import { newMessage } from '../tables/message-rows.ts';
import type { SendingAccount, SendingContact, SendingTenant } from '../tables/sending-rows.ts';
import { threadKey } from '../tables/threads.ts';
import { answerKey, enterNames, noticeKey, type SendBatch } from './batch.ts';
import { chooseAccount, chooseContact, flagRefusal, namedAccount } from './choose.ts';
import type { SendDecision, SendInput, SendRules } from './input.ts';

/**
 * Decides one send on what the batch has and enters the decision there, so that the next one sees it.
 * The checks run in this order: idempotency, tenant suspended, account, contact, contact flags, loop
 * guard, opener burst, daily send cap, new-contact cap. A refused send enters nothing, except
 * the first limit event of the day and the count of refused openers; the lane counts it. A question
 * that is not refused enters nothing at all. No I/O.
 */
export function decideSend(rules: SendRules, batch: SendBatch, send: SendInput): SendDecision {
  const earlier = earlierAnswer(rules, batch, send);
  if (earlier !== null) return earlier;
  const tenant = batch.tenants.get(send.tenantId);
  if (tenant === undefined || tenant.status === 'deleted') {
    return { refused: new GatewayError('unauthorized'), accountId: null };
  }
  if (tenant.status === 'suspended') {
    return { refused: new GatewayError('account_suspended'), accountId: null };
  }
  const account = chooseAccount(batch.accounts, send);
  if (account instanceof GatewayError) {
    return { refused: account, accountId: namedAccount(batch.accounts, send)?.id ?? null };
  }
  const contact = chooseContact(rules, batch, tenant, account, send);
  if (contact instanceof GatewayError) return { refused: contact, accountId: account.id };
  const refusal =
    flagRefusal(contact) ??
    loopRefusal(rules, batch, contact) ??
    openerRefusal(rules, batch, account, contact) ??
    capRefusal(rules, batch, tenant, account, contact.uncounted);
  if (refusal !== null) return { refused: refusal, accountId: account.id };
  const answer = sendAnswer(send.id, account.id, contact.id, batch.now);
  if (send.isQuestion !== true) enter(batch, account, contact, send, answer);
  return { accepted: answer };
}

/** The 202 to a send that was accepted. */
export function sendAnswer(
  id: string,
  accountId: string,
  contactId: string,
  acceptedAt: number,
): SendAnswer {
  return {
    id,
    status: 'queued',
    account_id: accountId,
    contact_id: contactId,
    created_at: timestamp(acceptedAt),
  };
}

/** What an earlier send with the same Idempotency-Key was answered. */
function earlierAnswer(rules: SendRules, batch: SendBatch, send: SendInput): SendDecision | null {
  if (send.idempotency === null) return null;
  const { keyHash, bodyHash } = send.idempotency;
  const kept = batch.keys.get(answerKey(send.tenantId, keyHash));
  if (kept === undefined || kept.createdAt <= batch.now - rules.idempotencyMs) return null;
  // Entered by `enter` and by nobody else.
  const answer = kept.answer as SendAnswer;
  // Of another account than its own an API key learns nothing, and no second message is made.
  if (kept.bodyHash !== bodyHash || !mayUse(send, answer.account_id)) {
    return { refused: new GatewayError('idempotency_conflict'), accountId: null };
  }
  return { accepted: answer };
}

function loopRefusal(
  rules: SendRules,
  batch: SendBatch,
  contact: SendingContact,
): GatewayError | null {
  const outbound = batch.outbound.get(contact.id) ?? [];
  const inbound = batch.inbound.get(contact.id) ?? [];
  const wait = rules.limits.loopGuard(outbound, inbound, batch.now);
  if (wait === null) return null;
  return new GatewayError('loop_guard', { retryAfterS: wait / 1000 });
}

function openerRefusal(
  rules: SendRules,
  batch: SendBatch,
  account: SendingAccount,
  contact: SendingContact,
): GatewayError | null {
  if (batch.threads.has(threadKey(account.id, contact.id))) return null;
  const wait = rules.limits.openerBurst(batch.openers.get(account.id) ?? [], batch.now);
  if (wait === null) return null;
  const refused = listOf(batch.refusedOpeners, account.id);
  if (!batch.isRepeat) {
    refused.push(batch.now);
    batch.newRefusals.push({ accountId: account.id, at: batch.now });
  }
  // Only a connected account is restricted; what is refused until it is counts for it then.
  const hold = account.status === 'connected' ? rules.limits.safetyHold(refused, batch.now) : null;
  if (hold === null) return new GatewayError('opener_burst', { retryAfterS: wait / 1000 });
  batch.holds.set(account.id, hold);
  // The account is restricted now, for longer than the guard would hold the next opener.
  const heldMs = Math.max(wait, hold - batch.now);
  return new GatewayError('opener_burst', { retryAfterS: heldMs / 1000 });
}

function capRefusal(
  rules: SendRules,
  batch: SendBatch,
  tenant: SendingTenant,
  account: SendingAccount,
  newContact: boolean,
): GatewayError | null {
  const caps = rules.limits.caps(tenant, account, batch.now);
  const ofTenant = batch.counts.get(tenant.id) ?? { sends: 0, newContacts: 0 };
  const ofAccount = batch.counts.get(account.id) ?? { sends: 0, newContacts: 0 };
  const retryAfterS = rules.limits.secondsToMidnight(batch.now);
  if (ofTenant.sends >= caps.tenant.sends) {
    notice(rules, batch, tenant, 'daily_send_cap');
    const message = `The plan's ${caps.tenant.sends} sends of this UTC day are used up.`;
    return new GatewayError('daily_send_cap', { message, retryAfterS });
  }
  if (ofAccount.sends >= caps.account.sends) {
    const message = `The account is on day ${caps.rampDay} of its warm-up and its ${caps.account.sends} sends of this UTC day are used up.`;
    return new GatewayError('daily_send_cap', { message, retryAfterS });
  }
  if (!newContact) return null;
  if (ofTenant.newContacts >= caps.tenant.newContacts) {
    notice(rules, batch, tenant, 'new_contact_cap');
    const message = `The plan's ${caps.tenant.newContacts} new contacts of this UTC day are used up.`;
    return new GatewayError('new_contact_cap', { message, retryAfterS });
  }
  if (ofAccount.newContacts >= caps.account.newContacts) {
    const message = `The account is on day ${caps.rampDay} of its warm-up and its ${caps.account.newContacts} new contacts of this UTC day are used up.`;
    return new GatewayError('new_contact_cap', { message, retryAfterS });
  }
  return null;
}

/** Raises the limit event; the table knows whether the tenant had it today for this reason. */
function notice(
  rules: SendRules,
  batch: SendBatch,
  tenant: SendingTenant,
  reason: 'daily_send_cap' | 'new_contact_cap',
): void {
  const day = rules.limits.day(batch.now);
  const key = noticeKey(tenant.id, day, reason);
  if (batch.newNotices.has(key)) return;
  batch.newNotices.set(key, {
    notice: { tenantId: tenant.id, day, reason },
    event: limitEvent(tenant.id, reason, batch.now),
  });
}

/** Enters an accepted send into the batch: its message, contact, thread, counters and Idempotency-Key. */
function enter(
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
function listOf(lists: Map<string, number[]>, key: string): number[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
