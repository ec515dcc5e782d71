import { id, integer, type Table, words } from '../../../core/contracts/schema.ts';

/** The table of used answers. */
export const confirmationTableSchema: readonly Table[] = [
  {
    name: 'confirmations',
    columns: {
      nonce: words(32),
      // What came first: accept or decline, or an id of the call where none may repeat it.
      answer: id,
      used_at: integer,
    },
    primary: ['nonce'],
    indexes: [['used_at']],
  },
];
