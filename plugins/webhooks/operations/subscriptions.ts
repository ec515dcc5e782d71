import { Type } from 'typebox';
import {
  type EventType,
  eventDescriptions,
  eventSet,
  eventTypes,
} from '../../../core/contracts/events.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { HealthSchema } from './delivery-schemas.ts';
import { unsignedExample, webhookExample, webhookId, webhookParams } from './examples.ts';
import type { WebhookOperationsParts } from './parts.ts';
import { EventTypeName, Success, WebhookId, WebhookParams, WebhookSchema } from './schemas.ts';
import { shortHealthView, webhookView } from './views.ts';

/** A subscription in the list: with the health of its URL in short. */
const ListedWebhookSchema = Type.Object(
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

/** `GET /webhooks`. */
export function listWebhooks({ subscriptions }: WebhookOperationsParts): AnyOperation {
  return operation({
    id: 'list_webhooks',
    method: 'GET',
    path: '/webhooks',
    tool: 'list_webhooks',
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'List the webhooks',
    description:
      'Every webhook of the account, oldest first. The other operations take `id` or `name`. ' +
      'Secrets are not shown: use `get_webhook_signing_secret`. Whether deliveries arrive shows `health`, and ' +
      '`get_webhook_health` in full.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    answers: { 200: Closed({ success: Success, webhooks: Type.Array(ListedWebhookSchema) }) },
    errors: [],
    examples: [
      {
        summary: 'One signed, one not signed and paused',
        answer: {
          status: 200,
          body: {
            success: true,
            webhooks: [
              { ...webhookExample, health: { consecutive_failures: 0, is_disabled: false } },
              {
                ...unsignedExample,
                id: 'wh_01j5x90a4m3z1q6r8s0v2w4y05',
                url: 'https://example.com/other',
                health: { consecutive_failures: 20, is_disabled: true },
              },
            ],
          },
        },
      },
    ],
    async handler({ caller }) {
      const webhooks = await subscriptions.list(caller.tenantId);
      const healths = await subscriptions.healths(webhooks);
      const views = webhooks.map((webhook) => ({
        ...webhookView(webhook),
        health: shortHealthView(healths.get(webhook.receiverId)),
      }));
      return { status: 200, body: { success: true, webhooks: views } };
    },
  });
}

/** `GET /webhooks/events`. */
export function listWebhookEvents(): AnyOperation {
  return operation({
    id: 'list_webhook_events',
    method: 'GET',
    path: '/webhooks/events',
    tool: 'list_webhook_events',
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'List the event types of webhooks',
    description:
      'The event types that webhooks of the account can subscribe to, each with its meaning. Only these are ' +
      'accepted in `subscribed_to`.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    answers: {
      200: Closed({
        success: Success,
        events: Type.Array(EventTypeName),
        descriptions: Type.Record(Type.String(), Type.String(), {
          description: 'the meaning of each of these event types',
        }),
      }),
    },
    errors: [],
    examples: [
      { summary: 'All', answer: { status: 200, body: eventsAnswer(eventTypes) } },
      {
        summary: 'Account events switched off',
        answer: {
          status: 200,
          body: eventsAnswer(eventTypes.filter((type) => type.startsWith('message.'))),
        },
      },
    ],
    async handler({ caller }) {
      return { status: 200, body: eventsAnswer(eventSet(caller.disabled)) };
    },
  });
}

function eventsAnswer(events: readonly EventType[]) {
  const descriptions = Object.fromEntries(events.map((type) => [type, eventDescriptions[type]]));
  return { success: true, events: [...events], descriptions };
}

/** `DELETE /webhooks/{webhookId}`. */
export function deleteWebhook(parts: WebhookOperationsParts): AnyOperation {
  const { subscriptions, deliveryLog } = parts;
  return operation({
    id: 'delete_webhook',
    method: 'DELETE',
    path: '/webhooks/{webhookId}',
    tool: 'delete_webhook',
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Delete a webhook',
    description:
      'Deletes the webhook with its delivery log; nothing more is delivered to it, waiting retries included. ' +
      'The health of its URL begins anew, for other webhooks with that URL too. To stop deliveries for a while, ' +
      'use `update_webhook` with `enabled` false instead. A repeated call answers `webhook_not_found`.',
    hints: { readOnly: false, destructive: true, idempotent: true },
    params: WebhookParams,
    query: null,
    body: null,
    answers: {
      200: Closed({
        success: Success,
        webhook_id: WebhookId,
        deleted: Type.Boolean({ description: 'true' }),
      }),
    },
    errors: ['webhook_not_found'],
    examples: [
      {
        summary: 'Deleted',
        params: webhookParams,
        answer: {
          status: 200,
          body: { success: true, webhook_id: webhookId, deleted: true },
        },
      },
    ],
    async handler({ caller, params }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      await subscriptions.delete(webhook);
      deliveryLog.forget(webhook.id);
      return { status: 200, body: { success: true, webhook_id: webhook.id, deleted: true } };
    },
  });
}
