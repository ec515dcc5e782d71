import { createTable, id, integer, nullable, type Table, text, words, zero } from './schema.ts';
import type { MigrationStep } from './steps.ts';

const hash = words(64);
const one = { ...zero, initial: 1 };

const tables: readonly Table[] = [
  {
    name: 'webhooks',
    columns: {
      id,
      tenant_id: id,
      name: words(100),
      url: text,
      receiver_id: hash,
      subscribed_to: text,
      retries_enabled: zero,
      enabled: one,
      secret: nullable(text),
      secret_created_at: nullable(integer),
      created_at: integer,
    },
    primary: ['id'],
    unique: [['tenant_id', 'name']],
    indexes: [['tenant_id', 'created_at', 'id'], ['receiver_id']],
  },
  {
    name: 'receivers',
    columns: {
      id: hash,
      tenant_id: id,
      url: text,
      consecutive_failures: zero,
      total_failures: zero,
      total_successes: zero,
      failing_since: nullable(integer),
      disabled_at: nullable(integer),
      disabled_reason: nullable(text),
      last_failure: nullable(text),
      last_success_at: nullable(integer),
      attempted_at: nullable(integer),
      updated_at: integer,
      due_at: nullable(integer),
      owner: nullable(id),
      fence: zero,
      lease_until: zero,
    },
    primary: ['id'],
    indexes: [['due_at'], ['owner'], ['disabled_at']],
  },
  {
    name: 'deliveries',
    columns: {
      id,
      tenant_id: id,
      webhook_id: id,
      receiver_id: hash,
      event_id: id,
      event_type: words(60),
      subject: id,
      state: words(20),
      test: zero,
      attempts: zero,
      retries: zero,
      replayed: zero,
      due_at: nullable(integer),
      log: text,
      created_at: integer,
    },
    primary: ['id'],
    unique: [['event_id', 'webhook_id']],
    indexes: [
      ['receiver_id', 'state', 'due_at', 'id'],
      ['webhook_id', 'created_at', 'id'],
      ['webhook_id', 'state', 'created_at', 'id'],
      ['state', 'attempts'],
      ['subject'],
      ['created_at'],
    ],
  },
  {
    // Rows that stand for something of which there is one at a time: whoever wants to do it locks the row.
    name: 'turns',
    columns: { name: words(40) },
    primary: ['name'],
  },
];

/** Subscriptions, the health of the receivers behind them, and what is delivered to whom. */
export const webhookTables: MigrationStep = {
  name: '002-webhooks',
  major: 1,
  async apply(executor) {
    for (const table of tables) await createTable(executor, table);
    await executor.insertIgnore('turns', [{ name: 'fan-out' }]);
  },
};
