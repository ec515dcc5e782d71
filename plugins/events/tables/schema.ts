import {
  id,
  integer,
  nullable,
  type Table,
  text,
  words,
  zero,
} from '../../../core/contracts/schema.ts';

/** The tables of the outbox and of the feed. */
export const eventTableSchema: readonly Table[] = [
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
      trace: nullable(words(55)),
      // Place in the tenant's feed; null until somebody reads so far.
      sequence: nullable(integer),
    },
    primary: ['id'],
    indexes: [
      ['state', 'id'],
      ['subject'],
      // Those without a number, by id, and those with one, by number.
      ['tenant_id', 'sequence', 'id'],
    ],
  },
  {
    // The tenants' last numbers: the lock rows of numbering.
    name: 'event_feeds',
    columns: { tenant_id: id, last: zero },
    primary: ['tenant_id'],
  },
  {
    // Up to where the subscriptions of plugins have handled each tenant's events.
    name: 'event_cursors',
    columns: { subscription: words(100), tenant_id: id, sequence: zero },
    primary: ['subscription', 'tenant_id'],
  },
  {
    // Lock rows: one for each job that runs in one process at a time.
    name: 'turns',
    columns: { name: words(40) },
    primary: ['name'],
    rows: [{ name: 'fan-out' }],
  },
];
