import { id, integer, nullable, type Table, words, zero } from '../../../core/contracts/schema.ts';

/** The table of jobs: since when each is there, when it is due, and the lease of the process that does it. */
export const jobTableSchema: readonly Table[] = [
  {
    name: 'jobs',
    columns: {
      name: words(100),
      created_at: integer,
      due_at: zero,
      owner: nullable(id),
      fence: zero,
    },
    primary: ['name'],
    indexes: [['owner']],
  },
];
