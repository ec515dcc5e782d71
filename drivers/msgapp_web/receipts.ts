import type { BinaryNode } from 'baileys';
import type { ReceiptEvent } from '../../core/contracts/driver.ts';
import { isOneContact, isOneDevice, isOwn } from './addresses.ts';

/** The network's words for how far a message got; those that are missing say nothing of it. */
const statuses: Readonly<Record<string, ReceiptEvent['status']>> = {
  '': 'delivered',
  inactive: 'delivered',
  read: 'read',
  played: 'read',
};

/**
 * What a receipt tells of messages that we sent. Pure.
 * @param own our own two addresses: our other devices report too, on what they received
 */
export function receiptsOf(
  { attrs, content }: BinaryNode,
  own: readonly string[],
): readonly ReceiptEvent[] {
  const status = statuses[attrs.type ?? ''];
  if (status === undefined || !isOneContact(attrs.from) || isOwn(attrs.from, own)) return [];
  const list = Array.isArray(content) ? content[0]?.content : undefined;
  const others = Array.isArray(list) ? list.map((item) => item.attrs.id) : [];
  const at = attrs.t ? Number(attrs.t) * 1_000 : Date.now();
  return [attrs.id, ...others].flatMap((id) =>
    id ? [{ type: 'receipt', reference: id, networkId: id, status, error: null, at } as const] : [],
  );
}

/**
 * The failure in an answer to a send; null when it is none, or of the message as it was sent once more to one device that
 * could not read it. Pure.
 */
export function lateFailureOf({ attrs }: BinaryNode): ReceiptEvent | null {
  if (!attrs.error || !attrs.id || isOneDevice(attrs.from)) return null;
  const { code, message } = ackRefusal(attrs.error);
  return {
    type: 'receipt',
    reference: attrs.id,
    networkId: attrs.id,
    status: 'failed',
    error: `${code}: ${message}`,
    at: attrs.t ? Number(attrs.t) * 1_000 : Date.now(),
  };
}

/** Error numbers in the answer to a message to a new contact. */
export const ackErrors = { locked: '463', quota: '475' } as const;

/** The refusal of a message, by the error number in its answer. Pure. */
export function ackRefusal(error: string): { readonly code: string; readonly message: string } {
  switch (error) {
    case ackErrors.locked:
      return {
        code: 'restricted_new_contacts',
        message: 'the network does not let this account write to new contacts',
      };
    case ackErrors.quota:
      return {
        code: 'new_contact_quota',
        message: "the network's quota of new contacts is used up",
      };
    default:
      return { code: 'refused_by_network', message: `the network refused it with error ${error}` };
  }
}
