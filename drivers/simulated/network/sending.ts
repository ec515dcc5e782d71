import { randomBytes } from 'node:crypto';
import type { SendBehaviour } from './control-protocol.ts';
import type { Phone } from './phone.ts';
import type { PhoneConnection } from './phone-link.ts';
import { type PhoneRecord, recipientAddress, restrictionAt } from './phone-record.ts';
import type { SentText } from './protocol.ts';
import type { AcceptedMessage, NetworkStore } from './store.ts';

/** A refusal in the answer to the driver. */
export interface SendRefusal {
  readonly code: string;
  readonly message: string;
  readonly retry_after_ms: number | null;
}

/** How long a phone that may not send at all asks to wait when nobody knows the end. */
const restrictedRetryMs = 5_000;

const receiptsOf: Readonly<Record<SendBehaviour, readonly ('delivered' | 'read')[]>> = {
  read: ['delivered', 'read'],
  deliver: ['delivered'],
  sent: [],
  fail: [],
  hang: [],
};

/** A message arrives from a phone's driver: accepted once for each reference, or refused. */
export function receiveSend(
  store: NetworkStore,
  phone: Phone,
  connection: PhoneConnection,
  sent: SentText & { readonly id: number },
): void {
  const now = Date.now();
  const { id, reference } = sent;
  const { latencyMs, send } = phone.record;
  const recipient = recipientAddress(sent.to);
  const earlier = store.accepted(phone.id, reference);
  const refusal = earlier === null ? refusalOf(phone, recipient, now, store) : null;
  if (refusal !== null) {
    after(latencyMs, () => connection.notify({ type: 'not_sent', id, ...refusal }));
    return;
  }
  if (earlier !== null) store.raiseAttempts(earlier.id);
  const message = { ...sent, to: { phone: recipient, networkId: sent.to.networkId } };
  const accepted = earlier ?? store.accept(phone.id, newNetworkId(), message, now);
  if (send === 'hang') return;
  after(latencyMs, () =>
    connection.notify({ type: 'sent', id, network_id: accepted.networkId, at: now }),
  );
  offerReceipts(store, phone, accepted, reference, now);
}

/** Ids as a network draws them. */
export function newNetworkId(): string {
  return randomBytes(10).toString('hex').toUpperCase();
}

/** Makes the receipts that the phone's behaviour wants and that were not made before. */
function offerReceipts(
  store: NetworkStore,
  phone: Phone,
  { id, networkId, receipts }: AcceptedMessage,
  reference: string,
  now: number,
): void {
  const { latencyMs, send } = phone.record;
  const wanted = receiptsOf[send];
  if (wanted.length <= receipts) return;
  store.setReceipts(id, wanted.length);
  for (const [index, status] of wanted.entries()) {
    if (index < receipts) continue;
    // One latency for the answer to the send, and one more for each step after it.
    const at = now + latencyMs * (index + 2);
    phone.offer({ type: 'receipt', reference, networkId, status, error: null, at }, at);
  }
}

function refusalOf(
  phone: Phone,
  recipient: string,
  now: number,
  store: NetworkStore,
): SendRefusal | null {
  const { record, profile } = phone;
  const restriction = restrictionAt(record, now);
  if (restriction?.scope === 'all') {
    const retryAfterMs = restriction.until === null ? restrictedRetryMs : restriction.until - now;
    return refuse(
      profile.restrictedCode,
      'the network lets this account send nothing',
      retryAfterMs,
    );
  }
  const talked = () => store.hasTalked(phone.id, recipient);
  if (!recipient.startsWith('+') && !talked()) {
    return refuse('unknown_recipient', 'the network knows nobody by this id');
  }
  if (profile.capabilities.recipients === 'contacts' && !isKnown(record, recipient) && !talked()) {
    return refuse('unknown_recipient', 'the recipient is not a contact of this account');
  }
  if (restriction?.scope === 'new_contacts' && !talked()) {
    return refuse(profile.restrictedCode, 'the network lets this account write to no new contact');
  }
  return record.send === 'fail' ? refuse(...reasonOf(record.failReason)) : null;
}

function isKnown({ contacts, history }: PhoneRecord, recipient: string): boolean {
  return (
    contacts.some(({ phone }) => phone === recipient) ||
    history.some(({ from }) => from === recipient)
  );
}

function refuse(code: string, message: string, retryAfterMs: number | null = null): SendRefusal {
  return { code, message, retry_after_ms: retryAfterMs };
}

/** `code: sentence`, a code alone, or a sentence, as QA likes. */
function reasonOf(reason: string | null): [code: string, message: string] {
  const standard = 'the network refused the message';
  if (reason === null) return ['refused_by_network', standard];
  const parts = /^([a-z][a-z0-9_]*)(?:: (.+))?$/s.exec(reason);
  return parts === null ? ['refused_by_network', reason] : [parts[1] ?? '', parts[2] ?? standard];
}

function after(latencyMs: number, then: () => void): void {
  if (latencyMs === 0) then();
  else setTimeout(then, latencyMs);
}
