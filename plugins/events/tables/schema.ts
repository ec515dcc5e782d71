import { id, integer, type Table, text, words, zero } from '../../../core/contracts/schema.ts';

/** The tables of the outbox. */
export const eventSchema: readonly Table[] = [
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
    // Lock rows: one for each job that runs in one process at a time.
    name: 'turns',
    columns: { name: words(40) },
    primary: ['name'],
    rows: [{ name: 'fan-out' }],
  },
];
