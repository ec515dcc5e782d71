import { Type } from 'typebox';
import { allEventTypes, eventTypes } from '../../../core/contracts/events.ts';
import { Closed, Nullable, NullableTimestamp, OneOf, Timestamp } from '../../../core/schemas.ts';
import { backlogMost } from '../tables/deliveries.ts';

/** Every answer of the group says that it is no refusal. */
export const Success = Type.Boolean({ description: 'true; false in a refusal' });

/** The id of a subscription in an answer. */
export const WebhookId = Type.String({
  description: 'the id of the webhook',
  examples: ['wh_01j5x8zr7g1x9n4p6q8s0t2wyz'],
});

/** The path parameter of the operations on one subscription. */
export const WebhookParams = Closed({
  webhookId: Type.String({
    maxLength: 100,
    description: 'The id of the webhook, or its exact name.',
  }),
});

/** An event type in an answer. */
export const EventTypeName = OneOf(allEventTypes, { description: 'the event type' });

const list = eventTypes.map((type) => `\`${type}\``).join(', ');

/** An event type in a body; whether it is one of the tenant's is checked later, with a code of its own. */
export function GivenEventType(description: string, options: object = {}) {
  return Type.String({
    maxLength: 60,
    description: `${description}one of ${list}, as far as the account has it: \`list_webhook_events\``,
    examples: ['message.received'],
    ...options,
  });
}

/** The event types in a body. */
export const GivenEventTypes = Type.Array(GivenEventType(''), {
  minItems: 1,
  maxItems: 50,
  description: 'The event types to deliver, at least one; one that is given twice counts once.',
});

/** The accounts in a body whose events are delivered. */
export const GivenAccountIds = Nullable(
  Type.Array(Type.String({ maxLength: 64 }), {
    minItems: 1,
    maxItems: 1_000,
    description:
      'Only events of these accounts are delivered, by their ids; null: of all. Events of no account are delivered in any case.',
    examples: [['acc_01j5x8zn1c8t6j1k3m5p7r9rst']],
  }),
);

/** The channels in a body whose events are delivered. */
export const GivenChannels = Nullable(
  Type.Array(Type.String({ maxLength: 60 }), {
    minItems: 1,
    maxItems: 50,
    description: 'Only events of accounts on these channels are delivered; null: of all.',
    examples: [['msgapp_web']],
  }),
);

/** The address in a body. */
export const GivenUrl = Type.String({
  minLength: 1,
  maxLength: 2_048,
  description:
    'Where events are delivered by POST: `https`, without credentials in it, and publicly reachable.',
  examples: ['https://example.com/hook'],
});

/** The name in a body. */
export function GivenName(more = '') {
  return Type.String({
    minLength: 1,
    maxLength: 100,
    description: `A name of your choice, unique in the account, that operations take instead of the id. It may not begin with \`wh_\`, nor be \`.\` or \`..\`.${more}`,
    examples: ['orders'],
  });
}

/** A subscription. */
export const WebhookSchema = Type.Object(
  {
    id: WebhookId,
    name: Type.String({
      description: 'operations take it instead of the id',
      examples: ['orders'],
    }),
    url: Type.String({
      description: 'where events are delivered',
      examples: ['https://example.com/hook'],
    }),
    subscribed_to: Type.Array(EventTypeName, { description: 'the event types that are delivered' }),
    account_ids: Nullable(
      Type.Array(Type.String(), { description: 'only of these accounts; null: of all' }),
    ),
    channels: Nullable(
      Type.Array(Type.String(), { description: 'only of these channels; null: of all' }),
    ),
    created_at: Timestamp,
    signing_enabled: Type.Boolean({ description: 'whether there is a signing secret' }),
    signing_secret_created_at: Type.Optional(
      Type.String({ ...Timestamp, description: 'there when signing is on' }),
    ),
    retries_enabled: Type.Boolean({ description: 'whether failed deliveries are retried' }),
    enabled: Type.Boolean({ description: 'the on/off switch' }),
  },
  { $id: 'Webhook' },
);

const FailureKindName = OneOf(['timeout', 'connection', 'tls', 'blocked', 'status'], {
  description:
    '`status`: an answer other than 2xx; `blocked`: the address is not allowed; else there was no answer.',
});

const StatusCode = Nullable(Type.Integer({ description: 'the status answered; null without one' }));

const Duration = Type.Integer({ description: 'in milliseconds' });

/** The delivery health of a subscription's URL. */
export const HealthSchema = Type.Object(
  {
    consecutive_failures: Type.Integer({ description: 'failed attempts since the last success' }),
    total_failures: Type.Integer({ description: 'failed attempts' }),
    total_successes: Type.Integer({ description: 'attempts that were answered with 2xx' }),
    is_disabled: Type.Boolean({ description: 'true while paused' }),
    disabled_at: NullableTimestamp,
    disabled_reason: Nullable(Type.String({ description: 'why it is paused' })),
    last_failure: Type.Unsafe({
      anyOf: [
        Type.Object(
          {
            at: Timestamp,
            event: EventTypeName,
            delivery_id: Type.String(),
            attempt: Type.Integer({ description: 'which attempt at the delivery it was, from 1' }),
            kind: FailureKindName,
            status_code: StatusCode,
            message: Type.String({ description: 'a sentence for a person' }),
            duration_ms: Duration,
          },
          { $id: 'WebhookLastFailure' },
        ),
        { type: 'null' },
      ],
    }),
    last_success_at: NullableTimestamp,
    created_at: Type.String({ ...Timestamp, description: 'the first attempt that is counted' }),
    updated_at: Timestamp,
  },
  {
    $id: 'WebhookHealth',
    description:
      'It belongs to the URL and is shared by all webhooks of the account with that URL.',
  },
);

/** A subscription in the list: with the health of its URL in short. */
export const ListedWebhookSchema = Type.Object(
  {
    ...WebhookSchema.properties,
    health: Type.Object(
      {
        consecutive_failures: HealthSchema.properties.consecutive_failures,
        is_disabled: HealthSchema.properties.is_disabled,
      },
      { description: 'of its URL, in short; the rest by `get_webhook_health`' },
    ),
  },
  { $id: 'ListedWebhook' },
);

/** The health, or null when nothing was attempted yet. */
export const NullableHealth = Type.Unsafe({
  anyOf: [HealthSchema, { type: 'null' }],
  description: 'null when no delivery has been attempted',
});

/** Why a test failed. */
export const TestFailureSchema = Type.Object(
  {
    kind: FailureKindName,
    message: Type.String({ description: 'a sentence for a person' }),
    status_code: StatusCode,
  },
  { $id: 'WebhookTestFailure' },
);

const DeliveryAttemptSchema = Type.Object(
  {
    attempt: Type.Integer({ description: 'from 1' }),
    at: Timestamp,
    duration_ms: Duration,
    status_code: StatusCode,
    answer: Type.String({ description: "the first KiB of the answer's body" }),
    failure: Type.Unsafe({
      anyOf: [
        Type.Object(
          { kind: FailureKindName, message: Type.String() },
          { $id: 'WebhookAttemptFailure' },
        ),
        { type: 'null' },
      ],
      description: 'null when it was delivered',
    }),
  },
  { $id: 'WebhookDeliveryAttempt' },
);

/** How far a receiver is behind. */
export const BacklogSchema = Type.Object(
  {
    first_attempts: Type.Integer({
      description: `deliveries that wait for their first attempt, counted up to ${backlogMost}`,
    }),
    oldest_at: { ...NullableTimestamp, description: 'when the oldest of them was made' },
  },
  { $id: 'WebhookBacklog' },
);

/** The states of a delivery in the log. */
export const deliveryStates = ['waiting', 'delivered', 'failed', 'suppressed'] as const;

/** A delivery in the log. */
export const DeliverySchema = Type.Object(
  {
    id: Type.String({
      description: 'the `X-Webhook-Delivery` of every attempt',
      examples: ['dlv_01j5x8zs8h2y0p5q7r9t1v3xz0'],
    }),
    event: EventTypeName,
    status: OneOf(deliveryStates, {
      description:
        '`waiting`: the next attempt is due at `next_attempt_at`. `suppressed`: not attempted, or no more, because the webhook was switched off or its URL paused.',
    }),
    test: Type.Boolean({ description: 'whether it is a test' }),
    created_at: Timestamp,
    next_attempt_at: NullableTimestamp,
    attempt_count: Type.Integer({ description: 'how many attempts were made' }),
    attempts: Type.Array(DeliveryAttemptSchema, {
      description: 'the latest, at most 20, oldest first',
    }),
    payload: Type.Unsafe({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'the body that is delivered; null once its event is no longer kept',
    }),
  },
  { $id: 'WebhookDelivery' },
);
