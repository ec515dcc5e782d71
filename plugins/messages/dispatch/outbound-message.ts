import type { OutboundMessage } from '../../../core/contracts/driver.ts';
import type { Contact } from '../../contacts/contract.ts';
import type { StoredMessage } from '../tables/message-rows.ts';

/** A message to be handed to the driver, with what the driver is not given. */
export interface DispatchedMessage extends OutboundMessage {
  /** Trace context of the message; null without a trace. */
  readonly trace: string | null;
}

/** A message as its session hands it over. */
export function dispatchedMessage(
  message: Pick<StoredMessage, 'id' | 'attempts' | 'text' | 'media' | 'trace'>,
  contact: Pick<Contact, 'phone' | 'networkId'>,
): DispatchedMessage {
  return { ...outboundMessage(message, contact), trace: message.trace };
}

/** A message as the driver is given it. */
export function outboundMessage(
  message: Pick<StoredMessage, 'id' | 'attempts' | 'text' | 'media'>,
  contact: Pick<Contact, 'phone' | 'networkId'>,
): OutboundMessage {
  const url = message.media?.url ?? null;
  return {
    reference: message.id,
    attempt: Math.max(1, message.attempts),
    to: { phone: contact.phone, networkId: contact.networkId },
    text: message.text,
    media: url === null ? null : { url },
  };
}
