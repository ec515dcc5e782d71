import { type Static, Type } from 'typebox';
import type { Caller } from '../../../core/contracts/caller.ts';
import { type EventType, eventSet } from '../../../core/contracts/events.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { Closed } from '../../../core/schemas.ts';
import { unknownEventTypes } from '../refusals.ts';
import type { WebhookChanges } from '../subscriptions/change.ts';
import { secretExample, unsignedExample, webhookExample, webhookParams } from './examples.ts';
import {
  GivenAccountIds,
  GivenChannels,
  GivenEventTypes,
  GivenName,
  GivenUrl,
} from './given-schemas.ts';
import type { WebhookOperationsParts } from './parts.ts';
import { Success, WebhookParams, WebhookSchema } from './schemas.ts';
import { webhookView } from './views.ts';

/** `POST /webhooks`. */
export function createWebhook({ subscriptions }: WebhookOperationsParts): AnyOperation {
  return operation({
    id: 'create_webhook',
    method: 'POST',
    path: '/webhooks',
    tool: 'create_webhook',
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Create a webhook',
    description: [
      'Subscribes an HTTPS address to event types: each event of the account from now on goes to it by POST.',
      'With `generate_signing_secret` deliveries are signed: hand `signing_secret` of the answer to the',
      'receiver. Then let `test_webhook` show that the receiver answers.',
      '',
      'A receiver answers any 2xx within ten seconds; everything else is a failure, redirects included. Failed',
      'deliveries are retried after 1 minute, 5 minutes, 30 minutes and 2 hours when `retries_enabled` is true.',
      'A URL that keeps failing is paused, for all webhooks that have it: see `get_webhook_health`. One that',
      'answers 410 is paused at once.',
      '',
      '`url_not_allowed`: the address is not https, carries credentials or is not public, or its host does not',
      'exist; ask for another. `unavailable`: no name server answers for its host; try again.',
      'With `account_ids` or `channels` only events of these accounts or channels are delivered, and those that are',
      'of no account: `account.limit_reached`.',
      '`invalid_event_type`: see `list_webhook_events`. `invalid_request` also answers an id that `list_accounts`',
      'never had, a name that another webhook has, and one webhook more than the account may have (20 unless',
      'configured): delete or update one instead.',
    ].join('\n'),
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: null,
    query: null,
    body: Closed({
      url: GivenUrl,
      subscribed_to: GivenEventTypes,
      account_ids: Type.Optional(GivenAccountIds),
      channels: Type.Optional(GivenChannels),
      name: Type.Optional(GivenName(' Without one: `webhook-` and the time.')),
      retries_enabled: Type.Optional(
        Type.Boolean({ default: false, description: 'whether failed deliveries are retried' }),
      ),
      enabled: Type.Optional(
        Type.Boolean({ default: true, description: 'false creates it switched off' }),
      ),
      generate_signing_secret: Type.Optional(
        Type.Boolean({ default: false, description: 'whether deliveries are signed' }),
      ),
    }),
    answers: {
      201: Closed({
        success: Success,
        webhook: WebhookSchema,
        signing_secret: Type.Optional(Type.String({ description: 'when asked for' })),
      }),
    },
    errors: ['invalid_event_type', 'url_not_allowed'],
    examples: [
      {
        summary: 'Signed and retried',
        body: {
          url: webhookExample.url,
          subscribed_to: webhookExample.subscribed_to,
          name: webhookExample.name,
          retries_enabled: true,
          generate_signing_secret: true,
        },
        answer: {
          status: 201,
          body: { success: true, webhook: webhookExample, signing_secret: secretExample },
        },
      },
      {
        summary: 'The least',
        body: { url: unsignedExample.url, subscribed_to: unsignedExample.subscribed_to },
        answer: { status: 201, body: { success: true, webhook: unsignedExample } },
      },
    ],
    async handler({ caller, body }) {
      const given = {
        name: body.name ?? null,
        url: body.url,
        subscribedTo: eventTypesOf(body.subscribed_to, caller),
        accountIds: onceEach(body.account_ids ?? null),
        channels: onceEach(body.channels ?? null),
        retriesEnabled: body.retries_enabled ?? false,
        enabled: body.enabled ?? true,
      };
      const isSigned = body.generate_signing_secret ?? false;
      const { webhook, secret } = await subscriptions.create(caller.tenantId, given, isSigned);
      return {
        status: 201,
        body: {
          success: true,
          webhook: webhookView(webhook),
          ...(secret === null ? {} : { signing_secret: secret }),
        },
      };
    },
  });
}

const UpdateBody = Closed(
  {
    url: Type.Optional(GivenUrl),
    subscribed_to: Type.Optional(GivenEventTypes),
    account_ids: Type.Optional(GivenAccountIds),
    channels: Type.Optional(GivenChannels),
    name: Type.Optional(GivenName()),
    retries_enabled: Type.Optional(
      Type.Boolean({ description: 'whether failed deliveries are retried' }),
    ),
    enabled: Type.Optional(Type.Boolean({ description: 'the on/off switch' })),
  },
  {
    description: 'At least one of `url`, `subscribed_to` and `name`.',
    anyOf: [{ required: ['url'] }, { required: ['subscribed_to'] }, { required: ['name'] }],
  },
);

/** `PUT /webhooks/{webhookId}`. */
export function updateWebhook({ subscriptions }: WebhookOperationsParts): AnyOperation {
  return operation({
    id: 'update_webhook',
    method: 'PUT',
    path: '/webhooks/{webhookId}',
    tool: 'update_webhook',
    scope: 'webhooks',
    group: 'webhooks',
    summary: 'Change a webhook',
    description: [
      'Changes what is given and keeps the rest. At least one of `url`, `subscribed_to` and `name` is needed: to',
      'switch a webhook on or off, give its current `name` beside `enabled`. `subscribed_to` replaces the whole list.',
      '',
      'A `url`, even the same, begins the health of that URL anew and ends its pause; retries that wait go to the new',
      'one. Events raised while a webhook is switched off are not delivered later: they are in the delivery log as',
      '`suppressed` and can be replayed. Signing is changed by `rotate_webhook_signing_secret` and',
      '`turn_off_webhook_signing`.',
      '',
      'Refusals are those of `create_webhook`, and `webhook_not_found`: find it with `list_webhooks`.',
    ].join('\n'),
    hints: { readOnly: false, destructive: true, idempotent: true },
    params: WebhookParams,
    query: null,
    body: UpdateBody,
    answers: { 200: Closed({ success: Success, webhook: WebhookSchema }) },
    errors: ['invalid_event_type', 'url_not_allowed', 'webhook_not_found'],
    examples: [
      {
        summary: 'Another address',
        params: webhookParams,
        body: { url: 'https://example.com/other-hook' },
        answer: {
          status: 200,
          body: {
            success: true,
            webhook: { ...webhookExample, url: 'https://example.com/other-hook' },
          },
        },
      },
      {
        summary: 'Switched off',
        params: webhookParams,
        body: { name: webhookExample.name, enabled: false },
        answer: {
          status: 200,
          body: { success: true, webhook: { ...webhookExample, enabled: false } },
        },
      },
    ],
    async handler({ caller, params, body }) {
      const webhook = await subscriptions.find(caller.tenantId, params.webhookId);
      const changed = await subscriptions.update(webhook, changesOf(body, caller));
      return { status: 200, body: { success: true, webhook: webhookView(changed) } };
    },
  });
}

function changesOf(body: Static<typeof UpdateBody>, caller: Caller): WebhookChanges {
  const { url, subscribed_to: given, account_ids, channels, name } = body;
  const { retries_enabled, enabled } = body;
  return {
    ...(url === undefined ? {} : { url }),
    ...(given === undefined ? {} : { subscribedTo: eventTypesOf(given, caller) }),
    ...(account_ids === undefined ? {} : { accountIds: onceEach(account_ids) }),
    ...(channels === undefined ? {} : { channels: onceEach(channels) }),
    ...(name === undefined ? {} : { name }),
    ...(retries_enabled === undefined ? {} : { retriesEnabled: retries_enabled }),
    ...(enabled === undefined ? {} : { enabled }),
  };
}

function onceEach(names: readonly string[] | null): readonly string[] | null {
  return names === null ? null : [...new Set(names)];
}

function eventTypesOf(given: readonly string[], { disabled }: Caller): readonly EventType[] {
  const set = eventSet(disabled);
  const found = given.map((text) => set.find((type) => type === text));
  const unknown = found.flatMap((type, n) =>
    type === undefined ? [`body/subscribed_to/${n}`] : [],
  );
  if (unknown.length > 0) throw unknownEventTypes(unknown, set);
  return [...new Set(found.flatMap((type) => type ?? []))];
}
