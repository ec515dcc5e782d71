import { Type } from 'typebox';
import { type EventType, eventSet } from '../../../core/contracts/events.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, Nullable } from '../../../core/schemas.ts';
import { unknownEventTypes } from '../refusals.ts';
import { TestFailureSchema } from './delivery-schemas.ts';
import { webhookId, webhookParams } from './examples.ts';
import { GivenEventType } from './given-schemas.ts';
import type { WebhookOperationsParts } from './parts.ts';
import { EventTypeName, Success, WebhookId, WebhookParams } from './schemas.ts';

const usualEvent: EventType = 'message.delivered';

const deliveredExample = {
  success: true,
  webhook_id: webhookId,
  delivered: true,
  event: usualEvent,
  delivery_id: 'dlv_01j5x91b5n4a2r7s9t1w3x5z16',
  status_code: 204,
  duration_ms: 42,
};

/** `POST /webhooks/{webhookId}/test`. */
export function testWebhook(parts: WebhookOperationsParts): AnyOperation {
  const { subscriptions, deliverSample } = parts;
  return operation({
    id: 'test_webhook',
    method: 'POST',
    path: '/webhooks/{webhookId}/test',
    tool: 'test_webhook',
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Send a test delivery to a webhook',
    description: [
      'Delivers sample data at once and answers, within ten seconds, what came of it: `delivered` true, or false with',
      'a `failure`. The receiver gets it like any other delivery, signed if signing is on; the',
      'ids of a test are all zeros. It goes out also when the webhook is switched off, paused or not',
      'subscribed to the event; it changes no counter, is never retried, and is in the delivery log. One at a time:',
      'while a test of the webhook is under way, another is refused with `rate_limited`, and `retry_after_s` is how long',
      'the first may still take.',
    ].join('\n'),
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: WebhookParams,
    query: null,
    body: Closed({
      event: Type.Optional(GivenEventType('what to simulate: ', { default: usualEvent })),
    }),
    bodyOptional: true,
    answers: {
      200: Closed({
        success: Success,
        webhook_id: WebhookId,
        delivered: Type.Boolean({ description: 'whether the receiver answered 2xx' }),
        event: EventTypeName,
        delivery_id: Type.String({ description: 'the `X-Webhook-Delivery` it was sent with' }),
        status_code: Nullable(
          Type.Integer({ description: 'the status answered; null without one' }),
        ),
        duration_ms: Type.Integer({ description: 'in milliseconds' }),
        failure: Type.Optional(TestFailureSchema),
      }),
    },
    errors: ['invalid_event_type', 'webhook_not_found'],
    examples: [
      {
        summary: 'Delivered',
        params: webhookParams,
        body: { event: usualEvent },
        answer: { status: 200, body: deliveredExample },
      },
      {
        summary: 'Failed',
        params: webhookParams,
        body: {},
        answer: {
          status: 200,
          body: {
            ...deliveredExample,
            delivered: false,
            status_code: 500,
            failure: {
              kind: 'status',
              message: 'The receiver answered 500 instead of 2xx.',
              status_code: 500,
            },
          },
        },
      },
    ],
    async handler({ caller, params, body, signal }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      const event = eventOf(body.event ?? usualEvent, caller.disabled);
      const secrets = subscriptions.secretsOf(webhook);
      const { delivery, attempt } = await deliverSample(webhook, { event, secrets, signal });
      const { failure, statusCode } = attempt;
      return {
        status: 200,
        body: {
          success: true,
          webhook_id: webhook.id,
          delivered: failure === null,
          event,
          delivery_id: delivery.id,
          status_code: statusCode,
          duration_ms: attempt.durationMs,
          ...(failure === null ? {} : { failure: { ...failure, status_code: statusCode } }),
        },
      };
    },
  });
}

function eventOf(given: string, disabled: ReadonlySet<string>): EventType {
  const set = eventSet(disabled);
  const type = set.find((one) => one === given);
  if (type === undefined) throw unknownEventTypes(['body/event'], set);
  return type;
}
