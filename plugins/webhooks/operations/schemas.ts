import { Type } from 'typebox';
import { allEventTypes } from '../../../core/contracts/events.ts';
import { Closed, Nullable, OneOf, Timestamp } from '../../../core/schemas.ts';

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
    description: 'The id of the webhook, or its exact name.',
  }),
});

/** An event type in an answer. */
export const EventTypeName = OneOf(allEventTypes, { description: 'the event type' });

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
