import { id, integer, type Table, text, words, zero } from '../../../core/contracts/schema.ts';

/** The tables of the processes, and of until when and how long each holds its leases. */
export const clusterTableSchema: readonly Table[] = [
  {
    name: 'lease_holders',
    columns: { id, expires_at: integer, lease_ms: integer },
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
];
