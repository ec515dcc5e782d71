import { Type } from 'typebox';
import { Nullable, NullableTimestamp, OneOf, Timestamp } from '../../../core/schemas.ts';
import { backlogMost } from '../tables/delivery-log.ts';
import { EventTypeName } from './schemas.ts';

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
      description: `deliveries that wait for their first attempt, but for replays, counted up to ${backlogMost}`,
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
        '`waiting`: the next attempt is due at `next_attempt_at`. `suppressed`: not attempted, or no more, because the webhook was switched off, its URL paused, or webhooks or the event type disabled for the account.',
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
      description:
        'the body that is delivered; null once its event is no longer kept, and while its contact is being forgotten',
    }),
  },
  { $id: 'WebhookDelivery' },
);
