import {
  hash,
  id,
  integer,
  nullable,
  sparse,
  type Table,
  text,
  words,
  zero,
} from '../../../core/contracts/schema.ts';

/** The tables of tenants and their API keys. */
export const tenantTableSchema: readonly Table[] = [
  {
    name: 'tenants',
    columns: {
      id,
      name: text,
      mode: words(20),
      plan: words(100),
      status: words(20),
      disabled: text,
      ramp: zero,
      inbound_sequence: zero,
      // The mode, in the two tenants that the first start makes: unique, so that they are made once.
      first_of: nullable(words(4)),
      created_at: integer,
    },
    primary: ['id'],
    unique: [['first_of']],
  },
  {
    name: 'api_keys',
    columns: {
      id,
      tenant_id: id,
      hash,
      hint: words(32),
      name: nullable(words(100)),
      // Scopes and ids of accounts with a comma between; null: all.
      scopes: nullable(text),
      account_ids: nullable(text),
      confirm_sends: zero,
      created_at: integer,
      expires_at: nullable(integer),
      last_used_at: nullable(integer),
      revoked_at: nullable(integer),
    },
    primary: ['id'],
    unique: [['hash']],
    indexes: [
      // The list, and how many have not ended.
      ['tenant_id', 'revoked_at', 'created_at', 'id'],
      ['tenant_id', 'revoked_at', 'expires_at'],
      sparse('expires_at'),
      sparse('revoked_at'),
    ],
  },
];
