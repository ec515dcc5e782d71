import { Type } from 'typebox';
import { Nullable, nullableTimestamp, OneOf, Timestamp, timestamp } from '../../../core/schemas.ts';
import { scopes } from '../../../core/scopes.ts';
import type { ApiKey } from '../contract.ts';

/** The chapter of the documentation about API keys. */
export const keyGroup = {
  name: 'Keys',
  description:
    'API keys, what each may do and with which accounts. Give every program and every agent a key of its own, which ' +
    'may do no more than it needs.',
};

/** What a key may do. */
export const Scopes = Type.Array(OneOf([...scopes]), {
  minItems: 1,
  uniqueItems: true,
  description:
    'what the key may do: `read` messages, contacts, accounts, events and usage; `send` messages; change `contacts`; ' +
    '`connect` accounts; manage `webhooks`; manage `keys`',
  examples: [['read', 'send']],
});

/** The accounts of a key. */
export const AccountIds = Type.Array(Type.String(), {
  minItems: 1,
  maxItems: 50,
  uniqueItems: true,
  description: 'the accounts it may use',
  examples: [['acc_01j5x8zn1c8t6j1k3m5p7r9rst']],
});

const fields = {
  id: Type.String({
    description: 'of the key; the key itself is shown once, when it is made',
    examples: ['key_01j5x8zm3c8t6j1k3m5p7r9rst'],
  }),
  name: Nullable(Type.String({ description: 'null: made without one' })),
  scopes: Nullable(
    Type.Array(OneOf([...scopes]), { description: 'what the key may do; null: everything' }),
  ),
  account_ids: Nullable(
    Type.Array(Type.String(), { description: 'the accounts it may use; null: all' }),
  ),
  expires_at: Nullable(Type.String({ ...Timestamp, description: 'when it ends; null: never' })),
  confirm_sends: Type.Boolean({
    description:
      'whether a person has to confirm each message that it sends: over MCP the person is asked, over REST it cannot send',
  }),
};

/** The key of a request. */
export const OwnKeySchema = Type.Object(fields);

/** A key, without the key itself. */
export const KeySchema = Type.Object(
  {
    ...fields,
    hint: Type.String({
      description: 'beginning and end of the key, to tell keys apart',
      examples: ['gw_live_…kQ2w'],
    }),
    created_at: Timestamp,
    last_used_at: Nullable(
      Type.String({ ...Timestamp, description: 'exact to a minute; null: not yet' }),
    ),
  },
  { $id: 'Key' },
);

/** Examples of the documentation. */
export const keyExample = {
  id: 'key_01j5x8zm3c8t6j1k3m5p7r9rst',
  name: 'Support agent',
  scopes: ['read', 'send'] as ('read' | 'send')[],
  account_ids: ['acc_01j5x8zn1c8t6j1k3m5p7r9rst'],
  expires_at: '2099-12-31T00:00:00.000Z',
  confirm_sends: true,
  hint: 'gw_live_…kQ2w',
  created_at: '2026-01-31T09:30:00.000Z',
  last_used_at: '2026-01-31T09:31:00.000Z',
};

/** The fields that a request sees of its own key. */
export function ownKeyView({ id, name, scopes, accountIds, expiresAt, confirmSends }: ApiKey) {
  return {
    id,
    name,
    scopes: scopes === null ? null : [...scopes],
    account_ids: accountIds === null ? null : [...accountIds],
    expires_at: nullableTimestamp(expiresAt),
    confirm_sends: confirmSends,
  };
}

/** A key as the API shows it. */
export function keyView(key: ApiKey) {
  return {
    ...ownKeyView(key),
    hint: key.hint,
    created_at: timestamp(key.createdAt),
    last_used_at: nullableTimestamp(key.lastUsedAt),
  };
}
