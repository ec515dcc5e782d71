import { Type } from 'typebox';
import { allEventTypes } from '../../../core/contracts/events.ts';
import type { Json } from '../../../core/contracts/json.ts';
import { wrongField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import {
  Closed,
  NextCursor,
  nullableTimestamp,
  OneOf,
  PageBefore,
  PageLimit,
} from '../../../core/schemas.ts';
import { BacklogSchema, DeliverySchema, deliveryStates } from './delivery-schemas.ts';
import { deliveryExample, webhookId, webhookParams } from './examples.ts';
import type { WebhookOperationsParts } from './parts.ts';
import { Success, WebhookId, WebhookParams } from './schemas.ts';
import { deliveryView } from './views.ts';

/** `GET /webhooks/{webhookId}/deliveries`. */
export function listDeliveries(parts: WebhookOperationsParts): AnyOperation {
  const { subscriptions, deliveryLog, cursors } = parts;
  const id = 'list_webhook_deliveries';
  return operation({
    id,
    method: 'GET',
    path: '/webhooks/{webhookId}/deliveries',
    tool: null,
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'List the deliveries of a webhook',
    description:
      'What was delivered to the webhook, or was not, newest first and for 7 days (unless configured otherwise): each ' +
      'delivery with its attempts and the payload. Follow `next_cursor` with `before` for older ones; a cursor stays ' +
      'valid while deliveries are added. With `event` a page reads 5,000 deliveries at most: it may be short, or ' +
      'empty, while `next_cursor` is not null. `backlog` says whether the receiver falls behind.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: WebhookParams,
    query: Closed({
      limit: PageLimit,
      before: PageBefore,
      status: Type.Optional(OneOf(deliveryStates)),
      event: Type.Optional(OneOf(allEventTypes)),
    }),
    body: null,
    answers: {
      200: Closed({
        success: Success,
        webhook_id: WebhookId,
        deliveries: Type.Array(DeliverySchema, { description: 'newest first' }),
        next_cursor: NextCursor,
        backlog: BacklogSchema,
      }),
    },
    errors: ['invalid_cursor', 'webhook_not_found'],
    examples: [
      {
        summary: 'What failed',
        params: webhookParams,
        query: { status: 'failed', limit: '10' },
        answer: {
          status: 200,
          body: {
            success: true,
            webhook_id: webhookId,
            deliveries: [],
            next_cursor: null,
            backlog: { first_attempts: 0, oldest_at: null },
          },
        },
      },
      {
        summary: 'One that was retried',
        params: webhookParams,
        answer: {
          status: 200,
          body: {
            success: true,
            webhook_id: webhookId,
            deliveries: [deliveryExample],
            next_cursor: null,
            backlog: { first_attempts: 0, oldest_at: null },
          },
        },
      },
    ],
    async handler({ caller: { tenantId }, params, query }) {
      const webhook = await subscriptions.find(tenantId, params.webhookId);
      const limit = query.limit ?? 50;
      const before =
        query.before === undefined
          ? null
          : positionOf(cursors.read(id, tenantId, query.before, 'before'), webhook.id);
      const page = await deliveryLog.page(webhook.id, {
        state: query.status ?? null,
        event: query.event ?? null,
        before,
        limit,
      });
      const { deliveries, oldest } = await deliveryLog.backlog(webhook.id);
      const next_cursor =
        page.next === null ? null : cursors.issue(id, tenantId, [webhook.id, ...page.next]);
      return {
        status: 200,
        body: {
          success: true,
          webhook_id: webhook.id,
          deliveries: page.deliveries.map(deliveryView),
          next_cursor,
          backlog: { first_attempts: deliveries, oldest_at: nullableTimestamp(oldest) },
        },
      };
    },
  });
}

/** What `list_webhook_deliveries` put into its cursor; good for the same webhook only. */
function positionOf(position: Json, webhookId: string): readonly [number, string] {
  const [webhook, createdAt, id] = Array.isArray(position) ? (position as readonly Json[]) : [];
  if (webhook !== webhookId || typeof createdAt !== 'number' || typeof id !== 'string') {
    throw wrongField('query/before', 'is not a cursor of this webhook', 'invalid_cursor');
  }
  return [createdAt, id];
}

/** `POST /webhooks/{webhookId}/deliveries/{deliveryId}/replay`. */
export function replayDelivery(parts: WebhookOperationsParts): AnyOperation {
  const { subscriptions, deliveryLog } = parts;
  return operation({
    id: 'replay_webhook_delivery',
    method: 'POST',
    path: '/webhooks/{webhookId}/deliveries/{deliveryId}/replay',
    tool: null,
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Replay a delivery',
    description: [
      'Makes a delivery due at once, whatever became of it, and answers it as it waits; read the outcome in the log.',
      'It goes to the current URL with the current secret, under the same `X-Webhook-Delivery` with the next attempt',
      'number: a receiver that ignores duplicates ignores one that it took before. A replay is not retried by itself;',
      'a delivery that waits for a retry is brought forward and keeps the retries it has left.',
      '',
      'While the webhook is switched off or its URL paused a replay ends as `suppressed` again: use `update_webhook`',
      'or `reenable_webhook` first. Tests cannot be replayed (`invalid_request`), nor events of a type that the account',
      'does not have any more (`invalid_event_type`).',
    ].join('\n'),
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: Closed({
      ...WebhookParams.properties,
      deliveryId: Type.String({ description: 'The id of the delivery.' }),
    }),
    query: null,
    body: null,
    answers: { 200: Closed({ success: Success, webhook_id: WebhookId, delivery: DeliverySchema }) },
    errors: ['webhook_not_found', 'delivery_not_found', 'invalid_event_type'],
    examples: [
      {
        summary: 'Due now',
        params: { ...webhookParams, deliveryId: deliveryExample.id },
        answer: {
          status: 200,
          body: {
            success: true,
            webhook_id: webhookId,
            delivery: {
              ...deliveryExample,
              status: 'waiting',
              next_attempt_at: '2026-01-31T10:06:00.000Z',
            },
          },
        },
      },
    ],
    async handler({ caller, params }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      const delivery = deliveryView(await deliveryLog.replay(webhook, params.deliveryId));
      return { status: 200, body: { success: true, webhook_id: webhook.id, delivery } };
    },
  });
}
