import { Type } from 'typebox';
import {
  Closed,
  Nullable,
  NullableTimestamp,
  OneOf,
  PageBefore,
  Timestamp,
} from '../../core/schemas.ts';

/** An hour, in milliseconds: nothing in a test takes longer. */
const hourMs = 3_600_000;

/** Entries of an address book or a history that one phone may have. */
const mostEntries = 1_000;

const PhoneNumber = Type.String({
  description: 'a phone number in E.164 format',
  minLength: 1,
  maxLength: 40,
  examples: ['+15550001111'],
});
const Text = Type.String({ description: 'the message text', minLength: 1, maxLength: 4096 });
const Name = Nullable(Type.String({ description: 'a name', maxLength: 200, examples: ['Ada'] }));
const MediaUrl = Nullable(
  Type.String({ description: 'where the media can be fetched', format: 'uri', maxLength: 2048 }),
);

const SendBehaviour = OneOf(['read', 'deliver', 'sent', 'fail', 'hang'], {
  description:
    'how far messages from this phone get by themselves; `fail`: the network refuses them; `hang`: it ' +
    'takes them and never answers',
});

const restrictionScopes = ['all', 'new_contacts'] as const;

/** The phone that an operation is about. */
export const PhoneParams = Closed({
  phone: Type.String({
    description: 'the phone number in E.164 format; the + may be absent or percent-encoded',
    examples: ['+15550001111'],
  }),
});

/** On which channel. */
export const ChannelQuery = Closed({
  channel: Type.Optional(
    Type.String({
      description: 'the channel; default: the only one on which the number is known',
      examples: ['msgapp_web'],
    }),
  ),
});

/** Most messages of an outbox in one answer: who counts what arrived asks once. */
export const mostShown = 100_000;

/** Which part of an outbox. */
export const OutboxQuery = Closed({
  ...ChannelQuery.properties,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: mostShown, default: mostShown })),
  before: PageBefore,
});

const FailReason = Nullable(
  Type.String({
    description: 'why messages fail; `code: sentence`, a code or a sentence',
    minLength: 1,
    maxLength: 500,
  }),
);
const Latency = Type.Integer({
  description: "milliseconds before the network's answer to a send, and before each receipt",
  minimum: 0,
  maximum: hourMs,
});

/** A phone, as its owner sees it, with what QA has set. */
export const PhoneSchema = Closed(
  {
    phone_number: PhoneNumber,
    channel: Type.String({ examples: ['msgapp_web'] }),
    state: OneOf(['idle', 'pairing', 'code_sent', 'password_required', 'linked', 'logged_out'], {
      description: 'whether the phone is linked, or how far its linking is',
    }),
    login_code: Nullable(Type.String({ description: 'the login code that was sent to the phone' })),
    pairing_code: Nullable(Type.String({ description: 'the code to be typed on the phone' })),
    qr: Nullable(Type.String({ description: 'the text of the QR code to be scanned' })),
    password: Nullable(Type.String({ description: 'the two-factor password' })),
    send: SendBehaviour,
    fail_reason: FailReason,
    latency_ms: Latency,
    restriction: Nullable(
      Closed(
        {
          scope: OneOf(restrictionScopes, {
            description: 'the contacts that the phone cannot write to',
          }),
          until: NullableTimestamp,
        },
        {
          description:
            'the restriction that is in force, until lifted where `until` is null; null: none',
        },
      ),
    ),
    dropped_until: Nullable(
      Type.String({
        ...Timestamp,
        description:
          'until when a drop has new connections of this phone refused; null: they are not',
      }),
    ),
  },
  {
    $id: 'SimulatedPhone',
    description: 'A simulated phone, as its owner sees it, and what was set on it.',
  },
);

/** The changeable settings of a phone. */
export const PhoneSettingsSchema = Closed({
  password: Type.Optional(
    Nullable(
      Type.String({
        description: 'the two-factor password that chatapp asks for; null: none',
        minLength: 1,
        maxLength: 200,
      }),
    ),
  ),
  send: Type.Optional(SendBehaviour),
  fail_reason: Type.Optional(FailReason),
  latency_ms: Type.Optional(Latency),
  contacts: Type.Optional(
    Type.Array(Closed({ phone: PhoneNumber, name: Type.Optional(Name) }), {
      description: "the phone's address book",
      maxItems: mostEntries,
    }),
  ),
  history: Type.Optional(
    Type.Array(
      Closed({
        from: PhoneNumber,
        text: Text,
        at: Type.String({
          description: 'when it was written, ISO 8601, not before 1970',
          format: 'date-time',
          examples: ['2026-01-31T09:30:00.000Z'],
        }),
      }),
      { description: 'messages from before the phone was linked', maxItems: mostEntries },
    ),
  ),
});

/** A message from a contact. */
export const InboundSchema = Closed({
  from: Closed(
    {
      phone: Type.Optional(PhoneNumber),
      network_id: Type.Optional(
        Type.String({
          description:
            'the hidden id that the network shows: alone it shows no phone, beside one it shows both',
          minLength: 1,
          maxLength: 128,
          examples: ['hidden-17'],
        }),
      ),
      name: Type.Optional(Name),
    },
    {
      description: 'who writes: a phone, a hidden id or both',
      anyOf: [{ required: ['phone'] }, { required: ['network_id'] }],
    },
  ),
  text: Type.Optional(
    Type.String({
      description: 'the message text; empty or absent only beside `media_url`',
      maxLength: 4096,
    }),
  ),
  media_url: Type.Optional(MediaUrl),
  network_id: Type.Optional(
    Type.String({
      description: "the network's id; a repeated one is the same message",
      minLength: 1,
      maxLength: 128,
    }),
  ),
});

/** A receipt for one message. */
export const ReceiptSchema = Closed({
  message_id: Type.String({ description: "the gateway's id of the message", maxLength: 100 }),
  status: OneOf(['sent', 'delivered', 'read', 'failed']),
});

/** A message that the network accepted. */
export const OutboxMessageSchema = Closed(
  {
    network_id: Type.String({ description: "the network's id" }),
    message_id: Type.String({ description: "the gateway's id" }),
    to: Type.String({
      description: "the recipient's phone number, or hidden id where no phone was known",
    }),
    text: Type.String(),
    media_url: Nullable(Type.String()),
    at: Timestamp,
    attempts: Type.Integer({ description: 'how often the gateway handed it over', minimum: 1 }),
  },
  { $id: 'SimulatedOutboxMessage' },
);

/** Something that befalls a phone. */
export const PhoneEventSchema = Closed({
  type: OneOf(['log_out', 'restrict', 'lift_restriction', 'drop', 'expire_qr', 'replace'], {
    description:
      '`log_out`: the owner unlinks the session. `replace`: another session takes its place. ' +
      '`restrict`, `lift_restriction`: the network limits whom the phone may write to. `drop`: the ' +
      'connection breaks. `expire_qr`: the code that is shown was the last one, and runs out',
  }),
  scope: Type.Optional(
    OneOf(restrictionScopes, { description: 'of a restriction; default `all`' }),
  ),
  for_ms: Type.Optional(
    Type.Integer({
      description:
        'milliseconds that a restriction lasts (default: until lifted) or that new connections of this ' +
        'phone are refused after a drop (default: none, which ends an earlier drop)',
      minimum: 1,
      maximum: hourMs * 24,
    }),
  ),
});
