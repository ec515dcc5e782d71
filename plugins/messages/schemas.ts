import { Type } from 'typebox';
import { Closed, Nullable, NullableTimestamp, OneOf, Timestamp } from '../../core/schemas.ts';
import { sendTarget } from '../../core/sending.ts';

/** A kind of media object. */
export const mediaKinds = ['image', 'video', 'audio', 'document'] as const;

const MediaSchema = Type.Object(
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

const MessageContactSchema = Type.Object(
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

/** A message, as get, list and wait show it. */
export const MessageSchema = Type.Object(
  {
    id: Type.String({ examples: ['msg_01j5x8zq3e9v7k2m4n6p8r0stv'] }),
    direction: OneOf(['inbound', 'outbound']),
    text: Type.String(),
    media: Type.Unsafe({ anyOf: [MediaSchema, { type: 'null' }] }),
    status: OneOf(['queued', 'sent', 'delivered', 'read', 'failed', 'received'], {
      description:
        'Outbound: queued → sent → delivered → read, or failed from queued or sent. Inbound: received.',
    }),
    error: Nullable(
      Type.String({
        description: 'Why it failed: a sentence that begins with its code, such as `expired: …`.',
      }),
    ),
    account_id: Type.String({ examples: ['acc_01j5x8zq3e9v7k2m4n6p8r0stv'] }),
    channel: Type.String({ examples: ['msgapp_web'] }),
    contact: MessageContactSchema,
    created_at: Type.String({
      ...Timestamp,
      description: 'When it was accepted or received; of imported history its original time.',
    }),
    sent_at: NullableTimestamp,
    delivered_at: NullableTimestamp,
    read_at: NullableTimestamp,
    failed_at: NullableTimestamp,
  },
  { $id: 'Message' },
);

/** The body of `POST /messages`. */
export function sendBody(maxText: number) {
  return Closed({
    ...sendTarget,
    text: Type.String({ minLength: 1, maxLength: maxText, description: 'What the contact reads.' }),
    media_url: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 2_048,
        description: 'https URL of an image, video, audio file or document.',
      }),
    ),
  });
}

/** The query of `GET /messages`. */
export const ListQuery = Closed({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
  direction: Type.Optional(OneOf(['inbound', 'outbound'])),
  account_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'An unknown id gives an empty list.' }),
  ),
  before: Type.Optional(
    Type.String({ maxLength: 500, description: 'The `next_cursor` of the previous page.' }),
  ),
});

/** A page of `GET /messages`. */
export const ListAnswer = Type.Object({
  messages: Type.Array(MessageSchema, { description: 'newest first' }),
  next_cursor: Nullable(Type.String({ description: 'null when there is no further page' })),
});

/** The query of `GET /messages/wait`. */
export const WaitQuery = Closed({
  cursor: Type.Optional(
    Type.String({
      maxLength: 500,
      description: 'The `next_cursor` of the previous call; without it the wait starts from now.',
    }),
  ),
  account_id: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only messages received on this account.' }),
  ),
  timeout_s: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 55,
      default: 25,
      description: 'How long to wait, in seconds; 0 only looks.',
    }),
  ),
});

/** The answer of `GET /messages/wait`. */
export const WaitAnswer = Type.Object({
  messages: Type.Array(MessageSchema, { description: 'oldest first, at most 50' }),
  next_cursor: Type.String({ description: 'to be passed to the next call' }),
});
