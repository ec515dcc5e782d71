import { Type } from 'typebox';
import { Nullable, NullableTimestamp, OneOf, Timestamp } from '../../core/schemas.ts';

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
