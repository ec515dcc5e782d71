import { Type } from 'typebox';
import { GatewayError } from '../../../core/errors.ts';
import { nextCursor, pageOf, positionBefore } from '../../../core/list-position.ts';
import { type AnyOperation, operation } from '../../../core/operation.ts';
import {
  Closed,
  NextCursor,
  Nullable,
  notBlank,
  PageBefore,
  PageLimit,
} from '../../../core/schemas.ts';
import type { Cursors } from '../../secrets/contract.ts';
import type { ApiKey, KeySettings, NewKey } from '../contract.ts';
import { keySettingsOf } from '../key-rights.ts';
import type { KeyFilter } from '../tables/api-keys.ts';
import { AccountIds, KeySchema, keyExample, keyGroup, keyView, Scopes } from './key-schemas.ts';

/** Dependencies of the operations on keys. */
export interface KeyOperationsParts {
  /** A page of a tenant's keys that are not revoked, newest first. */
  page(tenantId: string, filter: KeyFilter): Promise<readonly ApiKey[]>;
  cursors(): Cursors;
  find(id: string): Promise<ApiKey | null>;
  /** Null when the tenant is gone; refuses when the maker is. */
  create(tenantId: string, settings: KeySettings, makerId: string): Promise<NewKey | null>;
  /** Null when the tenant has no such key. */
  revoke(id: string, tenantId: string): Promise<ApiKey | null>;
}

/** The operations on a tenant's keys; REST only, for keys with the scope `keys`. */
export function keyOperations(parts: KeyOperationsParts): readonly AnyOperation[] {
  return [listKeys(parts), createKey(parts), deleteKey(parts)];
}

const common = { tool: null, scope: 'keys', group: keyGroup } as const;
const listId = 'list_keys';

function listKeys({ page, cursors }: KeyOperationsParts): AnyOperation {
  return operation({
    ...common,
    id: listId,
    method: 'GET',
    path: '/keys',
    summary: 'List keys',
    description: [
      'The keys of the account holder, newest first, expired ones included for 90 days (unless configured otherwise),',
      'deleted ones not. None is shown whole. Follow `next_cursor` with `before` for older ones; a cursor stays valid',
      'while keys are made.',
    ].join('\n'),
    hints: { readOnly: true, destructive: false, idempotent: true },
    params: null,
    query: Closed({
      limit: PageLimit,
      before: PageBefore,
    }),
    body: null,
    answers: {
      200: Type.Object({
        keys: Type.Array(KeySchema, { description: 'newest first' }),
        next_cursor: NextCursor,
      }),
    },
    errors: ['invalid_cursor'],
    examples: [
      {
        summary: 'One key',
        answer: { status: 200, body: { keys: [keyExample], next_cursor: null } },
      },
    ],
    async handler({ caller: { tenantId }, query }) {
      const { limit = 50, before } = query;
      const position = positionBefore(cursors(), listId, tenantId, before);
      const found = await page(tenantId, { before: position, limit: limit + 1 });
      const { items, last } = pageOf(found, limit);
      const next_cursor = nextCursor(cursors(), listId, tenantId, last);
      return { status: 200, body: { keys: items.map(keyView), next_cursor } };
    },
  });
}

function createKey({ create, find }: KeyOperationsParts): AnyOperation {
  const { last_used_at: _used, ...made } = keyExample;
  return operation({
    ...common,
    id: 'create_key',
    method: 'POST',
    path: '/keys',
    summary: 'Make a key',
    description: [
      'Makes a key. The answer is the only one that shows it: keep it at once. A key never may more than the one that',
      'makes it: what is absent or null is as the maker has it, and a scope that the maker has not is refused with',
      '`scope_missing`. With `account_ids` the key sees and uses these accounts only: another one is for it as one that',
      'does not exist, and it may have the scopes `read`, `send` and `connect`. There may be 100 keys.',
    ].join('\n'),
    hints: { readOnly: false, destructive: false, idempotent: false },
    params: null,
    query: null,
    body: Closed({
      name: Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: notBlank,
        description: 'for people: which program or agent has it',
        examples: ['Support agent'],
      }),
      scopes: Type.Optional(Nullable(Scopes)),
      account_ids: Type.Optional(Nullable(AccountIds)),
      expires_at: Type.Optional(
        Nullable(
          Type.String({
            format: 'date-time',
            description: 'When it ends. Default: as the maker, or never.',
          }),
        ),
      ),
      confirm_sends: Type.Optional(
        Type.Boolean({
          description:
            'A person has to confirm each message that it sends. Default: as the maker, or false.',
        }),
      ),
    }),
    answers: {
      201: Type.Object({
        ...KeySchema.properties,
        key: Type.String({
          description: 'the key itself, shown only this once',
          examples: ['gw_live_8fJ0s3Lw2bXcVq7nTz5mRk1yHd4gPe6uAo9iBh_kQ2w'],
        }),
      }),
    },
    errors: ['account_not_found', 'key_cap'],
    examples: [
      {
        summary: 'A key for an agent',
        body: {
          name: keyExample.name,
          scopes: keyExample.scopes,
          account_ids: keyExample.account_ids,
          expires_at: keyExample.expires_at,
          confirm_sends: keyExample.confirm_sends,
        },
        answer: {
          status: 201,
          body: {
            ...made,
            last_used_at: null,
            key: 'gw_live_8fJ0s3Lw2bXcVq7nTz5mRk1yHd4gPe6uAo9iBh_kQ2w',
          },
        },
      },
    ],
    async handler({ caller, body }) {
      const maker = await find(caller.keyId);
      if (maker === null) throw new GatewayError('unauthorized');
      const { name, scopes, account_ids, expires_at, confirm_sends: confirmSends } = body;
      const wanted = {
        name: name.trim(),
        scopes: scopes ?? undefined,
        accountIds: account_ids ?? undefined,
        expiresAt: expires_at == null ? undefined : Date.parse(expires_at),
        confirmSends,
      };
      const settings = keySettingsOf(wanted, { ...caller, expiresAt: maker.expiresAt });
      const key = await create(caller.tenantId, settings, caller.keyId);
      const stored = key === null ? null : await find(key.id);
      if (key === null || stored === null) throw new GatewayError('unauthorized');
      return { status: 201, body: { ...keyView(stored), key: key.key } };
    },
  });
}

function deleteKey({ revoke }: KeyOperationsParts): AnyOperation {
  return operation({
    ...common,
    id: 'delete_key',
    method: 'DELETE',
    path: '/keys/{id}',
    summary: 'Delete a key',
    description:
      'Revokes a key for good: within 2 seconds it is refused everywhere and its open waits end. The key of the ' +
      'request itself can be deleted, too. A repeated call answers the same.',
    hints: { readOnly: false, destructive: true, idempotent: true },
    params: Closed({ id: Type.String({ description: 'The id of the key.' }) }),
    query: null,
    body: null,
    answers: {
      200: Closed({
        id: Type.String({ description: 'of the key' }),
        status: Type.Literal('revoked'),
      }),
    },
    errors: ['key_not_found'],
    examples: [
      {
        summary: 'Deleted',
        params: { id: keyExample.id },
        answer: { status: 200, body: { id: keyExample.id, status: 'revoked' } },
      },
    ],
    async handler({ caller, params }) {
      const key = await revoke(params.id, caller.tenantId);
      if (key === null) throw new GatewayError('key_not_found');
      return { status: 200, body: { id: key.id, status: 'revoked' } } as const;
    },
  });
}
