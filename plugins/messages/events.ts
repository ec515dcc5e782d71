import type { EventType } from '../../core/contracts/events.ts';
import type { LimitPayload, MessagePayload } from '../../core/event-payloads.ts';
import { timestamp } from '../../core/schemas.ts';
import type { Contact } from '../contacts/contract.ts';
import type { EventRecord } from '../events/contract.ts';
import type { MessageContact, StoredMessage } from './tables/message-rows.ts';

/** The message events an outbound message goes through, by the status that raises them. */
const eventOfStatus = {
  sent: 'message.sent',
  delivered: 'message.delivered',
  read: 'message.read',
  failed: 'message.failed',
  received: 'message.received',
} as const satisfies Record<string, EventType>;

/** A status whose reaching raises an event. */
export type EventStatus = keyof typeof eventOfStatus;

/**
 * The event of a message that reached a status, with the payload that `docs/webhooks.md` shows.
 * @param at when it did
 */
export function messageEvent(
  message: StoredMessage,
  contact: MessageContact | Contact,
  status: EventStatus,
  at: number,
): EventRecord {
  const event = eventOfStatus[status];
  return {
    tenantId: message.tenantId,
    type: event,
    subject: message.id,
    at,
    trace: message.trace,
    payload: {
      event,
      created_at: timestamp(at),
      account_id: message.accountId,
      channel: message.channel,
      message: {
        id: message.id,
        direction: message.direction,
        text: message.text,
        media: message.media === null ? null : { ...message.media },
        status,
        error: status === 'failed' ? message.error : null,
      },
      contact: { id: contact.id, phone: contact.phone, name: contact.name },
    } satisfies MessagePayload,
  };
}

/** The event of a tenant that was refused a send for one of its plan's daily caps. */
export function limitEvent(
  tenantId: string,
  reason: 'daily_send_cap' | 'new_contact_cap',
  at: number,
): EventRecord {
  return {
    tenantId,
    type: 'account.limit_reached',
    subject: tenantId,
    at,
    payload: {
      event: 'account.limit_reached',
      created_at: timestamp(at),
      account_id: null,
      channel: null,
      account: { id: null, channel: null, identifier: null, status: 'limited', reason },
    } satisfies LimitPayload,
  };
}
