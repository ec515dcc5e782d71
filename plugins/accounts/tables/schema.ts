import {
  day,
  hash,
  id,
  integer,
  key,
  nullable,
  type Table,
  text,
  words,
  zero,
} from '../../../core/contracts/schema.ts';

/** The tables of accounts, their leases and credentials. */
export const accountSchema: readonly Table[] = [
  {
    name: 'accounts',
    columns: {
      id,
      tenant_id: id,
      channel: words(40),
      identifier: words(100),
      status: words(20),
      reason: nullable(text),
      detail: nullable(text),
      retry_at: nullable(integer),
      status_since: integer,
      linked: zero,
      restriction: nullable(words(20)),
      restriction_reason: nullable(text),
      restriction_detail: nullable(text),
      restricted_until: nullable(integer),
      connect_options: text,
      announced: zero,
      ever_connected: zero,
      ramp_day_one: nullable(day),
      outbound_sequence: zero,
      present_key: nullable(key),
      claim_key: nullable(key),
      created_at: integer,
      connected_at: nullable(integer),
      removed_at: nullable(integer),
    },
    primary: ['id'],
    unique: [['present_key'], ['claim_key']],
    indexes: [
      ['tenant_id', 'created_at', 'id'],
      ['tenant_id', 'removed_at', 'status'],
    ],
  },
  {
    name: 'leases',
    columns: {
      account_id: id,
      wanted: zero,
      owner: nullable(id),
      fence: zero,
    },
    primary: ['account_id'],
    indexes: [['wanted', 'owner'], ['owner']],
  },
  // At most one of each account, so that none has to be pruned.
  {
    name: 'links',
    columns: { account_id: id, token_hash: hash, restarts: zero, expires_at: integer },
    primary: ['account_id'],
    unique: [['token_hash']],
  },
  {
    name: 'credentials',
    columns: { account_id: id, name: key, value: text },
    primary: ['account_id', 'name'],
  },
];
