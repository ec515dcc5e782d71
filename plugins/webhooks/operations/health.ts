import { Type } from 'typebox';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { NullableHealth } from './delivery-schemas.ts';
import {
  pausedExample,
  reenabledExample,
  webhookExample,
  webhookId,
  webhookParams,
} from './examples.ts';
import type { WebhookOperationsParts } from './parts.ts';
import { Success, WebhookId, WebhookParams } from './schemas.ts';
import { healthView } from './views.ts';

/** `GET /webhooks/{webhookId}/health`. */
export function getHealth({ subscriptions }: WebhookOperationsParts): AnyOperation {
  return operation({
    id: 'get_webhook_health',
    method: 'GET',
    path: '/webhooks/{webhookId}/health',
    tool: 'get_webhook_health',
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Get the delivery health of a webhook',
    description:
      'How attempts to reach its URL went: counts, the last failure and the last success. `is_disabled` true: the ' +
      'URL failed at least 20 times in a row over at least 10 minutes (unless configured otherwise), or answered ' +
      'with 410 once, and is paused; `disabled_reason` says which. ' +
      'Repair the receiver, let `test_webhook` show it, then use `reenable_webhook`. The health belongs to the URL ' +
      'and is shared by all webhooks of the account with it. Tests change none of it.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: WebhookParams,
    query: null,
    body: null,
    answers: {
      200: Closed({
        success: Success,
        webhook_id: WebhookId,
        url: Type.String(),
        health: NullableHealth,
      }),
    },
    errors: ['webhook_not_found'],
    examples: [
      {
        summary: 'Paused',
        params: webhookParams,
        answer: {
          status: 200,
          body: {
            success: true,
            webhook_id: webhookId,
            url: webhookExample.url,
            health: pausedExample,
          },
        },
      },
      {
        summary: 'Nothing delivered yet',
        params: webhookParams,
        answer: {
          status: 200,
          body: {
            success: true,
            webhook_id: webhookId,
            url: webhookExample.url,
            health: null,
          },
        },
      },
    ],
    async handler({ caller, params }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      const health = healthView(await subscriptions.health(webhook));
      const body = { success: true, webhook_id: webhook.id, url: webhook.url, health };
      return { status: 200, body };
    },
  });
}

/** `POST /webhooks/{webhookId}/reenable`. */
export function reenableWebhook({ subscriptions }: WebhookOperationsParts): AnyOperation {
  return operation({
    id: 'reenable_webhook',
    method: 'POST',
    path: '/webhooks/{webhookId}/reenable',
    tool: 'reenable_webhook',
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Re-enable a paused webhook',
    description:
      'Ends the pause of its URL, for all webhooks of the account with it, and takes the counts of failures back to ' +
      '0. Nothing is delivered by it: events raised meanwhile are in the delivery log as `suppressed` and can be ' +
      'replayed there. A webhook that is switched off stays so: use `update_webhook`. Repair the receiver first, ' +
      'else the URL is paused again.',
    hints: { readOnly: false, destructive: false, idempotent: true },
    params: WebhookParams,
    query: null,
    body: null,
    answers: {
      200: Closed({ success: Success, webhook_id: WebhookId, health: NullableHealth }),
    },
    errors: ['webhook_not_found'],
    examples: [
      {
        summary: 'Active again',
        params: webhookParams,
        answer: {
          status: 200,
          body: {
            success: true,
            webhook_id: webhookId,
            health: reenabledExample,
          },
        },
      },
    ],
    async handler({ caller, params }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      const health = healthView(await subscriptions.reenable(webhook));
      return { status: 200, body: { success: true, webhook_id: webhook.id, health } };
    },
  });
}
