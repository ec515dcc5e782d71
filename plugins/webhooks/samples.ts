import { type EventType, isOperatorEvent } from '../../core/contracts/events.ts';
import type { Json } from '../../core/contracts/json.ts';
import { timestamp } from '../../core/schemas.ts';

const accountId = 'acc_00000000000000000000000000';
const channel = 'msgapp_web';
const identifier = '+12025550100';
const contact = {
  id: 'con_00000000000000000000000000',
  phone: '+12025550123',
  name: 'Sample contact',
};

function message(status: string, error: string | null = null): Json {
  return {
    id: 'msg_00000000000000000000000000',
    direction: status === 'received' ? 'inbound' : 'outbound',
    text: 'This is a test.',
    media: null,
    status,
    error,
  };
}

function account(status: string, reason: string | null): Json {
  return { id: accountId, channel, identifier, status, reason };
}

type Subject = { readonly message: Json } | { readonly account: Json } | { readonly webhook: Json };

const subjects: Readonly<Record<EventType, Subject>> = {
  'message.received': { message: message('received') },
  'message.sent': { message: message('sent') },
  'message.delivered': { message: message('delivered') },
  'message.read': { message: message('read') },
  'message.failed': { message: message('failed', 'expired: This is a test.') },
  'account.connected': { account: account('connected', null) },
  'account.disconnected': { account: account('disconnected', 'logged_out') },
  'account.restricted': { account: account('restricted', 'blocked_by_msgapp') },
  'account.limit_reached': {
    account: {
      id: null,
      channel: null,
      identifier: null,
      status: 'limited',
      reason: 'daily_send_cap',
    },
  },
  'webhook.failing': {
    webhook: { url: 'https://example.com/hook', consecutive_failures: 10, reason: null },
  },
  'webhook.paused': {
    webhook: {
      url: 'https://example.com/hook',
      consecutive_failures: 20,
      reason: 'Paused because the receiver answered 410 Gone.',
    },
  },
};

/**
 * Payload of a test, in the shape of its event type (specification: Payload shapes); message, contact and account are
 * made up. Pure.
 * @param at time of the event, milliseconds since the Unix epoch
 */
export function samplePayload(event: EventType, at: number): Json {
  const subject = subjects[event];
  const head = { event, created_at: timestamp(at) };
  if ('message' in subject) return { ...head, account_id: accountId, channel, ...subject, contact };
  const isOfTenant = event === 'account.limit_reached' || isOperatorEvent(event);
  return {
    ...head,
    account_id: isOfTenant ? null : accountId,
    channel: isOfTenant ? null : channel,
    ...subject,
  };
}
