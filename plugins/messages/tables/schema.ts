import {
  hash,
  id,
  integer,
  key,
  nullable,
  one,
  onMysql,
  sparse,
  type Table,
  text,
  words,
  zero,
} from '../../../core/contracts/schema.ts';

/** The tables of messages, of what is to fail of them, and of open waits. */
export const messageTableSchema: readonly Table[] = [
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
      trace: nullable(words(55)),
      created_at: integer,
      sent_at: nullable(integer),
      delivered_at: nullable(integer),
      read_at: nullable(integer),
      failed_at: nullable(integer),
    },
    primary: ['id'],
    unique: [
      sparse('tenant_id', 'inbound_sequence'),
      sparse('account_id', 'sequence'),
      sparse('account_id', 'direction', 'network_id'),
    ],
    indexes: [
      // SQLite puts a list of both directions together from those of one: a commit writes fewer pages.
      onMysql('tenant_id', 'created_at', 'id'),
      ['tenant_id', 'direction', 'created_at', 'id'],
      onMysql('tenant_id', 'account_id', 'created_at', 'id'),
      ['tenant_id', 'account_id', 'direction', 'created_at', 'id'],
      sparse('tenant_id', 'account_id', 'inbound_sequence'),
      ['account_id', 'status', 'sequence'],
      // The loop guard counts by it how often a contact has written lately.
      ['contact_id', 'direction', 'created_at'],
    ],
  },
  {
    // The queues of links that are over, until the last of their messages has failed.
    name: 'abandoned_queues',
    columns: { account_id: id, up_to: integer, reason: words(60) },
    primary: ['account_id', 'up_to'],
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
    name: 'waits',
    columns: {
      id,
      kind: words(10),
      tenant_id: id,
      process_id: id,
      ends_at: integer,
      // Number of waits that the row counts for.
      slots: one,
    },
    primary: ['id'],
    indexes: [['tenant_id'], ['process_id']],
  },
];
