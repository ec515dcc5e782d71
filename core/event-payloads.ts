import { type Static, type TProperties, type TSchema, Type } from 'typebox';
import { type EventType, operatorEventTypes } from './contracts/events.ts';
import { Closed, Nullable, OneOf, Timestamp } from './schemas.ts';

/** A kind of media object. */
const mediaKinds = ['image', 'video', 'audio', 'document'] as const;

/** The media object of a message. */
export const MediaSchema = Type.Object(
  {
    kind: OneOf(mediaKinds),
    url: Nullable(
      Type.String({
        description:
          'Outbound: the URL that was given. Inbound: an address that needs no key and is good for 24 hours; ' +
          'each read of the message gives a new one. Null when the media could not be fetched, is not kept ' +
          'any more, or belongs to imported history.',
      }),
    ),
    mime_type: Nullable(Type.String()),
    file_name: Nullable(Type.String()),
    size: Nullable(Type.Integer({ description: 'in bytes' })),
  },
  { $id: 'Media', description: 'The media object of a message; unknown parts are null.' },
);

/** The contact of a message. */
export const MessageContactSchema = Type.Object(
  {
    id: Type.String({ examples: ['con_01j5x8zq3e9v7k2m4n6p8r0stv'] }),
    phone: Nullable(
      Type.String({
        description: 'E.164; null where the network hides it',
        examples: ['+12025550123'],
      }),
    ),
    name: Type.String({ description: 'empty while unknown' }),
  },
  { $id: 'MessageContact' },
);

const messageStatuses = ['received', 'sent', 'delivered', 'read', 'failed'] as const;
const accountStatuses = ['connecting', 'connected', 'disconnected', 'restricted'] as const;

const AccountId = Type.String({ examples: ['acc_01j5x8zn1c8t6j1k3m5p7r9rst'] });
const Channel = Type.String({ examples: ['msgapp_web'] });

function messageOf<Status extends TSchema>(status: Status) {
  return Closed({
    id: Type.String({ examples: ['msg_01j5x8zt5f0w8m3n5p7q9s1vwx'] }),
    direction: OneOf(['inbound', 'outbound']),
    text: Type.String(),
    media: Nullable(MediaSchema),
    status,
    error: Nullable(
      Type.String({ description: 'why it failed: a sentence that begins with its code' }),
    ),
  });
}

function messagePayload<Event extends TSchema, Status extends TSchema>(
  event: Event,
  status: Status,
) {
  return {
    event,
    created_at: Timestamp,
    account_id: AccountId,
    channel: Channel,
    message: messageOf(status),
    contact: MessageContactSchema,
  };
}

function accountPayload<Event extends TSchema, Status extends TSchema>(
  event: Event,
  status: Status,
) {
  return {
    event,
    created_at: Timestamp,
    account_id: AccountId,
    channel: Channel,
    account: Closed({
      id: AccountId,
      channel: Channel,
      identifier: Type.String({ description: 'the phone number', examples: ['+12025550100'] }),
      status,
      reason: Nullable(Type.String({ description: 'why, as a stable word; null when connected' })),
    }),
  };
}

const limitPayload = {
  event: Type.Literal('account.limit_reached'),
  created_at: Timestamp,
  account_id: Type.Null(),
  channel: Type.Null(),
  account: Closed({
    id: Type.Null(),
    channel: Type.Null(),
    identifier: Type.Null(),
    status: Type.Literal('limited'),
    reason: OneOf(['daily_send_cap', 'new_contact_cap'], { description: 'the limit that was hit' }),
  }),
};

const operatorPayload = {
  event: OneOf(operatorEventTypes),
  created_at: Timestamp,
  account_id: Type.Null(),
  channel: Type.Null(),
  webhook: Closed({
    url: Type.String({ description: 'the URL concerned, which does not get this event' }),
    consecutive_failures: Type.Integer({ description: 'failed attempts in a row' }),
    reason: Nullable(
      Type.String({ description: 'why it is paused, a sentence; null while it fails' }),
    ),
  }),
};

/** The schema of the payload of an event type (specification: Payload shapes), `MessageReceivedEvent` for example. */
export function payloadSchema(type: EventType): TSchema {
  const name = type.replaceAll(/(?:^|[._])(.)/g, (_, first) => first.toUpperCase());
  return Closed<TProperties>(fieldsOf(type), { $id: `${name}Event` });
}

/** The shape of each event's payload. */
const shapes: Readonly<Record<EventType, 'message' | 'account' | 'limit' | 'operator'>> = {
  'message.received': 'message',
  'message.sent': 'message',
  'message.delivered': 'message',
  'message.read': 'message',
  'message.failed': 'message',
  'account.connected': 'account',
  'account.disconnected': 'account',
  'account.restricted': 'account',
  'account.limit_reached': 'limit',
  'webhook.failing': 'operator',
  'webhook.paused': 'operator',
};

function fieldsOf(type: EventType): TProperties {
  const event = Type.Literal(type);
  // Events of messages and accounts are called after the status that raises them.
  const status = Type.Literal(type.slice(type.indexOf('.') + 1));
  switch (shapes[type]) {
    case 'message':
      return messagePayload(event, status);
    case 'account':
      return accountPayload(event, status);
    case 'limit':
      return limitPayload;
    case 'operator':
      return { ...operatorPayload, event };
  }
}

const AnyMessageEvent = Closed(messagePayload(Type.String(), OneOf(messageStatuses)));
const AnyAccountEvent = Closed(accountPayload(Type.String(), OneOf(accountStatuses)));
const LimitEvent = Closed(limitPayload);

/** The payload of an event of a message. */
export type MessagePayload = Static<typeof AnyMessageEvent>;
/** The payload of an event of an account. */
export type AccountPayload = Static<typeof AnyAccountEvent>;
/** The payload of `account.limit_reached`. */
export type LimitPayload = Static<typeof LimitEvent>;

const OperatorEvent = Closed(operatorPayload);
/** The payload of an event about delivery itself. */
export type OperatorPayload = Static<typeof OperatorEvent>;
