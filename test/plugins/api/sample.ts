import { Writable } from 'node:stream';
import { type Static, Type } from 'typebox';
import type { Cradle } from '../../../core/container.ts';
import { provide } from '../../../core/container.ts';
import type { Caller } from '../../../core/contracts/caller.ts';
import { type ErrorCode, GatewayError } from '../../../core/errors.ts';
import { createGateway, type Gateway, gatewayPlugin } from '../../../core/kernel.ts';
import { createLog } from '../../../core/log.ts';
import { operation } from '../../../core/operation.ts';
import { Closed, Nullable, NullableTimestamp, OneOf, Timestamp } from '../../../core/schemas.ts';
import api from '../../../plugins/api/plugin.ts';
import type {} from '../../../plugins/audit/contract.ts';
import mcp from '../../../plugins/mcp/plugin.ts';
import observability from '../../../plugins/observability/plugin.ts';

/** The keys that the sample gateway knows. */
export const keys = { good: 'gw_test_good', other: 'gw_test_other', offline: 'gw_test_offline' };

export const bodyLimit = 8_192;

const Contact = Type.Object(
  { id: Type.String(), phone: Nullable(Type.String()), name: Type.String() },
  { $id: 'SampleContact' },
);

const Thing = Type.Object(
  {
    id: Type.String(),
    text: Type.String(),
    kind: Nullable(OneOf(['image', 'video'])),
    media: Nullable(Type.Object({ url: Type.String(), size: Nullable(Type.Integer()) })),
    contact: Nullable(Contact),
    author: Contact,
    labels: Type.Array(Type.String()),
    counts: Type.Record(Type.String(), Type.Integer()),
    ratio: Type.Number(),
    created_at: Timestamp,
    read_at: NullableTimestamp,
    value: Type.Union([Type.String(), Type.Integer(), Type.Null()]),
  },
  { $id: 'SampleThing' },
);

const contact = { id: 'con_1', phone: null, name: 'Zoë "Z" \u2028 😀' };

/** Bodies that the sample answers with: every shape that a serializer could get wrong. */
export const things: readonly Static<typeof Thing>[] = [
  {
    id: 'thg_1',
    text: 'a\u0001"\\/<script>',
    kind: null,
    media: null,
    contact: null,
    author: contact,
    labels: [],
    counts: {},
    ratio: 0.1,
    created_at: '2026-01-31T09:30:00.000Z',
    read_at: null,
    value: null,
  },
  {
    id: 'thg_2',
    text: '',
    kind: 'image',
    media: { url: 'https://example.com/a.png', size: null },
    contact: { ...contact, phone: '+12025550100' },
    author: contact,
    labels: ['a', ''],
    counts: { a: 1, 'b c': 0 },
    ratio: 1e21,
    created_at: '2026-01-31T09:30:00.000Z',
    read_at: '2026-01-31T09:30:00.001Z',
    value: 7,
  },
];

/** What the handlers of the sample saw. */
export interface Seen {
  readonly requests: unknown[];
  readonly aborts: string[];
  /** Keys that are good no more. */
  readonly revoked: Set<string>;
}

function sampleOperations(seen: Seen) {
  const common = {
    group: 'messages' as const,
    summary: 'A sample',
    description: 'A sample operation.',
    tool: null,
    scope: 'read' as const,
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    errors: [],
    examples: [],
  };
  return [
    operation({
      ...common,
      id: 'list_things',
      method: 'GET',
      path: '/things',
      query: Closed({
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50 })),
        direction: Type.Optional(OneOf(['inbound', 'outbound'])),
        deep: Type.Optional(Type.Boolean()),
        before: Type.Optional(Type.String({ minLength: 1, maxLength: 20 })),
      }),
      answers: {
        200: Type.Object({ things: Type.Array(Thing), next_cursor: Nullable(Type.String()) }),
      },
      errors: ['invalid_cursor'],
      examples: [
        {
          summary: 'Two of them',
          query: { limit: '2' },
          answer: { status: 200, body: { things, next_cursor: null } },
        },
      ],
      handler: async ({ query }) => {
        seen.requests.push({ ...query });
        return { status: 200, body: { things: [...things], next_cursor: null } };
      },
    }),
    operation({
      ...common,
      id: 'add_thing',
      method: 'POST',
      path: '/things',
      headers: [
        {
          name: 'Idempotency-Key',
          description: 'repeats are one',
          schema: Type.String({ minLength: 1, maxLength: 255 }),
        },
      ],
      body: Closed({
        to: Closed(
          {
            phone: Type.Optional(Type.String({ minLength: 1, maxLength: 32 })),
            contact_id: Type.Optional(Type.String({ minLength: 1 })),
          },
          { anyOf: [{ required: ['phone'] }, { required: ['contact_id'] }] },
        ),
        text: Type.String({ minLength: 1, maxLength: 40 }),
        account_id: Type.Optional(Type.String()),
        count: Type.Optional(Type.Integer({ minimum: 0, maximum: 5 })),
        loud: Type.Optional(Type.Boolean()),
        note: Type.Optional(Nullable(Type.String({ maxLength: 5 }))),
        kinds: Type.Optional(
          Type.Array(OneOf(['a', 'b']), { minItems: 1, maxItems: 3, uniqueItems: true }),
        ),
        shape: Type.Optional(Type.Union([Closed({ side: Type.Integer() }), Type.Null()])),
      }),
      answers: { 202: Type.Object({ id: Type.String(), body: Type.Unknown() }) },
      errors: ['daily_send_cap', 'account_not_found'],
      examples: [
        {
          summary: 'To a phone',
          body: { to: { phone: '+12025550100' }, text: 'hello' },
          answer: { status: 202, body: { id: 'thg_3', body: {} } },
        },
      ],
      handler: async ({ body, headers, caller, requestId }) => {
        seen.requests.push({ body, headers, caller: caller.tenantId, requestId });
        return { status: 202, body: { id: 'thg_3', body } };
      },
    }),
    operation({
      ...common,
      id: 'wait_for_things',
      method: 'GET',
      path: '/things/wait',
      answers: { 200: Type.Object({ things: Type.Array(Thing) }) },
      handler: async ({ signal }) => {
        seen.requests.push('wait');
        await new Promise((_, reject) => {
          const end = () => {
            seen.aborts.push(signal.reason.name);
            reject(signal.reason);
          };
          if (signal.aborted) end();
          else signal.addEventListener('abort', end);
        });
        return { status: 200, body: { things: [] } };
      },
    }),
    operation({
      ...common,
      id: 'get_thing',
      method: 'GET',
      path: '/things/{id}',
      params: Closed({ id: Type.String({ minLength: 1, maxLength: 40 }) }),
      answers: { 200: Thing },
      errors: ['message_not_found'],
      handler: async ({ params }) => {
        const thing = things.find(({ id }) => id === params.id);
        if (thing === undefined) throw new GatewayError('message_not_found');
        return { status: 200, body: thing };
      },
    }),
    operation({
      ...common,
      id: 'remove_thing',
      method: 'DELETE',
      path: '/things/{id}',
      params: Closed({ id: Type.String({ minLength: 1 }) }),
      answers: { 200: Type.Object({ id: Type.String() }) },
      handler: async ({ params }) => ({ status: 200, body: { id: params.id } }),
    }),
    operation({
      ...common,
      id: 'refuse',
      group: 'webhooks',
      method: 'PUT',
      path: '/webhooks/{code}',
      params: Closed({ code: Type.String({ minLength: 1 }) }),
      body: Closed({ retry_after_s: Type.Optional(Type.Number()) }),
      bodyOptional: true,
      answers: { 200: Type.Object({ success: Type.Boolean() }) },
      errors: ['webhook_not_found', 'url_not_allowed', 'connection_service_at_capacity'],
      handler: async ({ params, body }) => {
        if (params.code === 'fine') return { status: 200, body: { success: true } };
        if (params.code === 'bug') throw new Error('secret detail');
        // The test names codes of the table only.
        const code = params.code as ErrorCode;
        throw body.retry_after_s === undefined
          ? new GatewayError(code)
          : new GatewayError(code, { retryAfterS: body.retry_after_s });
      },
    }),
    operation({
      ...common,
      id: 'broken_answer',
      method: 'POST',
      path: '/broken-answer',
      answers: { 200: Type.Object({ value: Type.Union([Type.Integer(), Type.Null()]) }) },
      // A bug that TypeScript would have caught.
      handler: async () => ({ status: 200, body: { value: 'text' as unknown as number } }),
    }),
  ];
}

/** A gateway with nothing but the API and a few operations that show what it does. */
export interface SampleGateway {
  readonly gateway: Gateway;
  readonly origin: string;
  readonly baseUrl: string;
  readonly seen: Seen;
  readonly log: { readonly lines: Record<string, unknown>[] };
}

/**
 * Starts a sample gateway on a free port.
 * @param options `tools`: every operation is a tool of the MCP server too, under its id
 */
export async function sampleGateway(
  requestsPerS = 0,
  options: {
    readonly tools?: boolean;
    readonly allowedOrigins?: readonly string[];
    readonly wrongKeysPerS?: number;
  } = {},
): Promise<SampleGateway> {
  const seen: Seen = { requests: [], aborts: [], revoked: new Set() };
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  // The plugins read no more of the configuration than this.
  const config = {
    host: '127.0.0.1',
    port: 0,
    public_url: null,
    metrics_port: null,
    limits: { requests_per_s: requestsPerS, wrong_keys_per_s: options.wrongKeysPerS ?? 10 },
    mcp: { allowed_origins: options.allowedOrigins ?? [] },
  } as unknown as Cradle['config'];
  const gateway = await createGateway({
    log: createLog('debug', { write: (line) => destination.write(line) }),
    bodyLimit,
    prepare: (container) => provide(container, 'config', config),
    plugins: [
      observability,
      gatewayPlugin('tenants', [], async ({ container }) => {
        provide(container, 'authenticator', {
          authenticate: async (key) => (seen.revoked.has(key) ? null : authenticate(key)),
          forget: async () => {},
          forTenant: async () => null,
          isCurrent: async () => true,
        });
      }),
      gatewayPlugin('audit', [], async ({ container }) => {
        provide(container, 'audit', { recording: (_, change) => change(), list: async () => [] });
      }),
      gatewayPlugin('sample', [], async ({ operations }) => {
        const declared = sampleOperations(seen);
        operations.add(
          ...(options.tools ? declared.map((each) => ({ ...each, tool: each.id })) : declared),
        );
      }),
      api,
      ...(options.tools ? [mcp] : []),
    ],
  });
  const origin = await gateway.listen('127.0.0.1', 0);
  return { gateway, origin, baseUrl: `${origin}/v1`, seen, log: { lines } };
}

async function authenticate(key: string): Promise<Caller | null> {
  if (key === keys.offline) throw new GatewayError('unavailable', { retryAfterS: 2 });
  if (key !== keys.good && key !== keys.other) return null;
  return {
    tenantId: key === keys.good ? 'ten_1' : 'ten_2',
    keyId: `key_${key}`,
    mode: 'test',
    plan: 'growth',
    status: 'active',
    disabled: new Set(),
    scopes: null,
    accountIds: null,
    confirmSends: false,
  };
}
