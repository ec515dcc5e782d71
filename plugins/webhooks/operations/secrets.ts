import { Type } from 'typebox';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed, Nullable, NullableTimestamp, nullableTimestamp } from '../../../core/schemas.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import { secretExample, webhookId, webhookParams } from './examples.ts';
import type { WebhookOperationsParts } from './parts.ts';
import { Success, WebhookId, WebhookParams } from './schemas.ts';

const Answer = Closed({
  success: Success,
  webhook_id: WebhookId,
  signing_enabled: Type.Boolean({ description: 'whether deliveries are signed' }),
  signing_secret: Nullable(Type.String({ description: 'null when signing is off' })),
  signing_secret_created_at: NullableTimestamp,
});

const signedExample = {
  status: 200,
  body: {
    success: true,
    webhook_id: webhookId,
    signing_enabled: true,
    signing_secret: secretExample,
    signing_secret_created_at: '2026-01-31T09:30:00.000Z',
  },
};

const unsignedExample = {
  status: 200,
  body: {
    success: true,
    webhook_id: webhookId,
    signing_enabled: false,
    signing_secret: null,
    signing_secret_created_at: null,
  },
};

const shared = {
  path: '/webhooks/{webhookId}/signing-secret',
  group: 'webhooks',
  params: WebhookParams,
  query: null,
  body: null,
  answers: { 200: Answer },
  errors: ['webhook_not_found'],
} as const;

function answer(webhook: Webhook, secret: string | null) {
  return {
    status: 200,
    body: {
      success: true,
      webhook_id: webhook.id,
      signing_enabled: secret !== null,
      signing_secret: secret,
      signing_secret_created_at: nullableTimestamp(webhook.secretCreatedAt),
    },
  } as const;
}

/** `GET /webhooks/{webhookId}/signing-secret`. */
export function getSecret({ subscriptions }: WebhookOperationsParts): AnyOperation {
  return operation({
    ...shared,
    id: 'get_webhook_signing_secret',
    method: 'GET',
    tool: 'get_webhook_signing_secret',
    scope: 'webhooks',
    summary: "Read a webhook's signing secret",
    description:
      'The whole secret that deliveries are signed with, for the receiver; show it to nobody else. While signing ' +
      'is off it is null: `rotate_webhook_signing_secret` turns signing on.',
    hints: { readOnly: true, destructive: false, idempotent: true },
    examples: [
      { summary: 'Signing is on', params: webhookParams, answer: signedExample },
      { summary: 'Signing is off', params: webhookParams, answer: unsignedExample },
    ],
    async handler({ caller, params }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      return answer(webhook, subscriptions.secretsOf(webhook)?.current ?? null);
    },
  });
}

/** `POST /webhooks/{webhookId}/signing-secret`. */
export function rotateSecret({ subscriptions }: WebhookOperationsParts): AnyOperation {
  return operation({
    ...shared,
    id: 'rotate_webhook_signing_secret',
    method: 'POST',
    tool: 'rotate_webhook_signing_secret',
    scope: 'webhooks',
    summary: "Generate or rotate a webhook's signing secret",
    description:
      'Makes a new secret and returns it; the first one turns signing on. `X-Webhook-Signature` of the next delivery ' +
      'is made with the new one only, retries of earlier ones included: let the receiver accept both secrets for a ' +
      'moment. `webhook-signature` carries both signatures for 24 hours (unless configured otherwise), so that a ' +
      'receiver with a library of Standard Webhooks may change its secret within that time; a further rotation ' +
      'forgets the secret before. The old secret cannot be brought back.',
    hints: { readOnly: false, destructive: true, idempotent: false },
    examples: [{ summary: 'A new secret', params: webhookParams, answer: signedExample }],
    async handler({ caller, params }) {
      const found = await subscriptions.find(caller.tenantId, params.webhookId);
      const { webhook, secret } = await subscriptions.rotateSecret(found);
      return answer(webhook, secret);
    },
  });
}

/** `DELETE /webhooks/{webhookId}/signing-secret`. */
export function turnOffSigning({ subscriptions }: WebhookOperationsParts): AnyOperation {
  return operation({
    ...shared,
    id: 'turn_off_webhook_signing',
    method: 'DELETE',
    tool: 'turn_off_webhook_signing',
    scope: 'webhooks',
    summary: "Turn a webhook's signing off",
    description:
      'Removes the secret: later deliveries carry no header of a signature, neither ours nor those of Standard ' +
      'Webhooks, and a receiver that checks them refuses them. The secret cannot be brought back. Succeeds when ' +
      'signing is off already.',
    hints: { readOnly: false, destructive: true, idempotent: true },
    examples: [{ summary: 'Signing is off', params: webhookParams, answer: unsignedExample }],
    async handler({ caller, params }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      return answer(await subscriptions.stopSigning(webhook), null);
    },
  });
}
