import { type Static, Type } from 'typebox';
import { wrongField } from '../../../core/field-refusals.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import {
  Closed,
  Nullable,
  NullableTimestamp,
  nullableTimestamp,
  OneOf,
  Timestamp,
  timestamp,
} from '../../../core/schemas.ts';
import { type Recovery, recoverable, totalMost } from '../tables/recoveries.ts';
import { webhookId, webhookParams } from './examples.ts';
import type { WebhookOperationsParts } from './parts.ts';
import { Success, WebhookId, WebhookParams } from './schemas.ts';

const path = '/webhooks/{webhookId}/recover';
const Moment = Type.String({ format: 'date-time', examples: ['2026-01-31T09:30:00.000Z'] });
const Taken = OneOf(['failed', 'suppressed', 'all'], {
  description:
    '`failed`: what was given up; `suppressed`: what was not sent while the webhook was off, its URL paused, or webhooks or the event type disabled; `all`: both',
});

const Job = Closed(
  {
    id: Type.String({ examples: ['rec_01j5x8zr7g1x9n4p6q8s0t2wyz'] }),
    status: OneOf(['running', 'done']),
    deliveries: Taken,
    since: Timestamp,
    until: Timestamp,
    total: Type.Integer({
      description: `deliveries to repeat, counted up to ${totalMost} when it began, and at least \`recovered\``,
    }),
    recovered: Type.Integer({ description: 'deliveries that were handed over again' }),
    created_at: Timestamp,
    finished_at: NullableTimestamp,
  },
  { $id: 'WebhookRecovery', description: 'A job that delivers logged deliveries anew.' },
);

const example: Static<typeof Job> = {
  id: 'rec_01j5x8zr7g1x9n4p6q8s0t2wyz',
  status: 'running',
  deliveries: 'failed',
  since: '2026-01-31T09:00:00.000Z',
  until: '2026-01-31T10:00:00.000Z',
  total: 1_200,
  recovered: 0,
  created_at: '2026-01-31T10:00:00.000Z',
  finished_at: null,
};

/** `POST /webhooks/{webhookId}/recover`. */
export function recoverWebhook({ subscriptions, recover }: WebhookOperationsParts): AnyOperation {
  return operation({
    id: 'recover_webhook',
    method: 'POST',
    path,
    tool: null,
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Deliver anew what was missed',
    description: [
      'Starts a job that delivers logged deliveries once more, oldest first, beside the live ones, with a quarter of the',
      'requests that the URL gets at once, which all recoveries of the URL share. Each keeps its `X-Webhook-Delivery`: a',
      'receiver that ignores duplicates ignores one that it took before. As with a replay there are no further retries. The',
      'job survives restarts and waits while the webhook is off or its URL is paused. One runs at a time',
      '(`recovery_running`).',
    ].join('\n'),
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: WebhookParams,
    query: null,
    body: Closed({
      since: Type.String({
        ...Moment,
        description: 'Deliveries created at this moment or later. It must be in the past.',
      }),
      until: Type.Optional(
        Type.String({ ...Moment, description: 'Deliveries created before it. Default: all.' }),
      ),
      status: Taken,
    }),
    answers: { 202: Closed({ success: Success, webhook_id: WebhookId, job: Job }) },
    errors: ['webhook_not_found', 'webhook_not_delivering', 'recovery_running'],
    examples: [
      {
        summary: 'What failed since an hour',
        params: webhookParams,
        body: { since: '2026-01-31T09:00:00.000Z', status: 'failed' },
        answer: { status: 202, body: { success: true, webhook_id: webhookId, job: example } },
      },
    ],
    async handler({ caller: { tenantId }, params, body }) {
      const webhook = await subscriptions.find(tenantId, params.webhookId);
      const since = Date.parse(body.since);
      const until = body.until === undefined ? null : Date.parse(body.until);
      if (until !== null && until <= since) {
        throw wrongField('body/until', 'must be after body/since');
      }
      const states = body.status === 'all' ? recoverable : [body.status];
      const job = jobView(
        await recover.begin({ tenantId, webhookId: webhook.id, states, since, until }),
      );
      return { status: 202, body: { success: true, webhook_id: webhook.id, job } };
    },
  });
}

/** `GET /webhooks/{webhookId}/recover`. */
export function getRecovery({ subscriptions, recover }: WebhookOperationsParts): AnyOperation {
  return operation({
    id: 'get_webhook_recovery',
    method: 'GET',
    path,
    tool: null,
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Get the progress of a recovery',
    description:
      'The latest recovery of the webhook, with how far it is; null when there was none.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: WebhookParams,
    query: null,
    body: null,
    answers: { 200: Closed({ success: Success, webhook_id: WebhookId, job: Nullable(Job) }) },
    errors: ['webhook_not_found'],
    examples: [
      {
        summary: 'Just begun',
        params: webhookParams,
        answer: { status: 200, body: { success: true, webhook_id: webhookId, job: example } },
      },
    ],
    async handler({ caller, params }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      const found = await recover.find(webhook.id);
      const job = found === null ? null : jobView(found);
      return { status: 200, body: { success: true, webhook_id: webhook.id, job } };
    },
  });
}

function jobView(one: Recovery): Static<typeof Job> {
  const [state = 'failed'] = one.states;
  return {
    id: one.id,
    status: one.finishedAt === null ? 'running' : 'done',
    deliveries: one.states.length > 1 ? 'all' : state,
    since: timestamp(one.since),
    until: timestamp(one.until),
    // Only so many were counted, and some may have shown since.
    total: Math.max(one.total, one.recovered),
    recovered: one.recovered,
    created_at: timestamp(one.createdAt),
    finished_at: nullableTimestamp(one.finishedAt),
  };
}
