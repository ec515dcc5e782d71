import { Type } from 'typebox';
import { MediaSchema, MessageContactSchema } from '../../core/event-payloads.ts';
import { Nullable, NullableTimestamp, OneOf, Timestamp } from '../../core/schemas.ts';

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
