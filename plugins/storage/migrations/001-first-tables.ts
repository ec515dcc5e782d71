import { createTable, id, integer, nullable, type Table, text, words, zero } from './schema.ts';
import type { MigrationStep } from './steps.ts';

const day = words(10);
const hash = words(64);
/** The length up to which four-byte characters fit an index everywhere. */
const key = words(190);

const tables: readonly Table[] = [
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
      created_at: integer,
      revoked_at: nullable(integer),
    },
    primary: ['id'],
    unique: [['hash']],
    indexes: [['tenant_id']],
  },
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
    indexes: [['tenant_id', 'created_at', 'id']],
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
  {
    name: 'lease_holders',
    columns: { id, expires_at: integer },
    primary: ['id'],
  },
  {
    name: 'processes',
    columns: {
      id,
      name: words(300),
      roles: text,
      sessions: zero,
      capacity: zero,
      seen_at: integer,
    },
    primary: ['id'],
  },
  {
    name: 'credentials',
    columns: { account_id: id, name: key, value: text },
    primary: ['account_id', 'name'],
  },
  {
    name: 'contacts',
    columns: {
      id,
      tenant_id: id,
      channel: words(40),
      phone: nullable(words(40)),
      network_id: nullable(key),
      name: text,
      name_set: zero,
      do_not_disturb: zero,
      private: zero,
      automation_paused: zero,
      created_at: integer,
    },
    primary: ['id'],
    unique: [
      ['tenant_id', 'channel', 'phone'],
      ['tenant_id', 'channel', 'network_id'],
    ],
    indexes: [
      ['tenant_id', 'created_at', 'id'],
      ['tenant_id', 'channel', 'created_at', 'id'],
    ],
  },
  {
    name: 'contact_aliases',
    columns: { id, contact_id: id },
    primary: ['id'],
    indexes: [['contact_id']],
  },
  {
    name: 'threads',
    columns: {
      account_id: id,
      contact_id: id,
      opened_at: nullable(integer),
      inbound_at: nullable(integer),
    },
    primary: ['account_id', 'contact_id'],
    indexes: [['account_id', 'opened_at'], ['contact_id']],
  },
  {
    name: 'messages',
    columns: {
      id,
      tenant_id: id,
      account_id: id,
      channel: words(40),
      contact_id: id,
      direction: words(10),
      text,
      media: nullable(text),
      status: words(20),
      error: nullable(text),
      network_id: nullable(key),
      sequence: nullable(integer),
      inbound_sequence: nullable(integer),
      opener: zero,
      dispatched_at: nullable(integer),
      attempts: zero,
      dispatch_fence: nullable(integer),
      created_at: integer,
      sent_at: nullable(integer),
      delivered_at: nullable(integer),
      read_at: nullable(integer),
      failed_at: nullable(integer),
    },
    primary: ['id'],
    unique: [
      ['tenant_id', 'inbound_sequence'],
      ['account_id', 'sequence'],
      ['account_id', 'direction', 'network_id'],
    ],
    indexes: [
      ['tenant_id', 'created_at', 'id'],
      ['tenant_id', 'direction', 'created_at', 'id'],
      ['tenant_id', 'account_id', 'created_at', 'id'],
      ['tenant_id', 'account_id', 'direction', 'created_at', 'id'],
      ['tenant_id', 'account_id', 'inbound_sequence'],
      ['account_id', 'status', 'sequence'],
      ['contact_id', 'created_at'],
    ],
  },
  {
    name: 'usage_counters',
    columns: {
      tenant_id: id,
      day,
      account_id: { ...id, initial: '' },
      sends: zero,
      new_contacts: zero,
    },
    primary: ['tenant_id', 'day', 'account_id'],
  },
  {
    name: 'idempotency_keys',
    columns: {
      tenant_id: id,
      key_hash: hash,
      body_hash: hash,
      answer: text,
      created_at: integer,
    },
    primary: ['tenant_id', 'key_hash'],
    indexes: [['created_at']],
  },
  {
    name: 'events',
    columns: {
      id,
      tenant_id: id,
      type: words(60),
      subject: id,
      payload: text,
      state: zero,
      created_at: integer,
    },
    primary: ['id'],
    indexes: [['state', 'id'], ['created_at'], ['subject']],
  },
  {
    name: 'waits',
    columns: { id, tenant_id: id, process_id: id, ends_at: integer },
    primary: ['id'],
    indexes: [['tenant_id'], ['process_id']],
  },
  {
    name: 'limit_notices',
    columns: { tenant_id: id, day, reason: words(40) },
    primary: ['tenant_id', 'day', 'reason'],
  },
  {
    // Single values that concern the database as a whole: see `MarkTable`.
    name: 'marks',
    columns: { name: words(60), value: text },
    primary: ['name'],
  },
  {
    name: 'opener_refusals',
    columns: { account_id: id, at: integer, refusals: zero },
    primary: ['account_id', 'at'],
  },
];

/** Every table of the first version. */
export const firstTables: MigrationStep = {
  name: '001-first-tables',
  major: 1,
  async apply(executor) {
    for (const table of tables) await createTable(executor, table);
  },
};
