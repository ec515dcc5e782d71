import { Type } from 'typebox';
import { GatewayError } from '../../../core/errors.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import { OneOf } from '../../../core/schemas.ts';
import { gatewayVersion } from '../../../core/version.ts';
import type { ApiKey, Tenant } from '../contract.ts';
import { keyGroup, OwnKeySchema, ownKeyView } from './key-schemas.ts';

const MeSchema = Type.Object(
  {
    tenant: Type.Object({
      id: Type.String({ examples: ['ten_01j5x8zm0b7s5h0j2k4m6n8pqr'] }),
      name: Type.String({ description: 'as it was given to the command line', examples: ['Acme'] }),
      mode: OneOf(['live', 'test'], {
        description: '`test`: its channels run on the simulated network.',
      }),
      plan: Type.String({ description: 'name of the plan', examples: ['growth'] }),
      status: OneOf(['active', 'suspended'], {
        description: 'A suspended one is refused on send, with `account_suspended`.',
      }),
    }),
    key: OwnKeySchema,
    features: Type.Array(Type.String(), {
      description:
        'What is switched on and in the plan: `api` (the list of accounts), `webhooks`, channels, `event:TYPE` for each type of event, and `operator_events` (events about the delivery of webhooks).',
      examples: [['api', 'webhooks', 'msgapp_web', 'event:message.received']],
    }),
    version: Type.String({ description: 'of the gateway', examples: [gatewayVersion] }),
  },
  { $id: 'Me' },
);

/** Dependencies of `GET /me`. */
export interface GetMeParts {
  /** The tenant as it is now; undefined when there is none. */
  tenant(id: string): Promise<Tenant | undefined>;
  /** The key as it is now; null when there is none. */
  key(id: string): Promise<ApiKey | null>;
  /** What works for a tenant: switched on, and in its plan. */
  features(tenant: Tenant): readonly string[];
}

/** Whose key a request has: `GET /me`, REST only. */
export function getMe({ tenant, key, features }: GetMeParts): AnyOperation {
  return operation({
    id: 'get_me',
    method: 'GET',
    path: '/me',
    tool: null,
    scope: null,
    withinAccounts: true,
    group: keyGroup,
    summary: 'Get whose key this is',
    description: [
      'The tenant behind the key of this request, what the key may do, which features are on, and the version of the',
      'gateway. Where the key may do everything, with every account, for ever, its `scopes`, `account_ids` and `expires_at`',
      'are null.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: null,
    body: null,
    answers: { 200: MeSchema },
    errors: [],
    examples: [
      {
        summary: 'A test key',
        answer: {
          status: 200,
          body: {
            tenant: {
              id: 'ten_01j5x8zm0b7s5h0j2k4m6n8pqr',
              name: 'First test tenant',
              mode: 'test',
              plan: 'growth',
              status: 'active',
            },
            key: {
              id: 'key_01j5x8zm3c8t6j1k3m5p7r9rst',
              name: null,
              scopes: null,
              account_ids: null,
              expires_at: null,
              confirm_sends: false,
            },
            features: ['api', 'webhooks', 'msgapp_web', 'chatapp', 'event:message.received'],
            version: gatewayVersion,
          },
        },
      },
    ],
    async handler({ caller }) {
      const [found, own] = await Promise.all([tenant(caller.tenantId), key(caller.keyId)]);
      if (found === undefined || own === null) throw new GatewayError('unauthorized');
      const { id, name, mode, plan, status } = found;
      if (status === 'deleted') throw new GatewayError('unauthorized');
      return {
        status: 200,
        body: {
          tenant: { id, name, mode, plan, status },
          key: ownKeyView(own),
          features: [...features(found)],
          version: gatewayVersion,
        },
      };
    },
  });
}
