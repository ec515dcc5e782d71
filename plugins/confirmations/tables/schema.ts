import { id, integer, type Table, words } from '../../../core/contracts/schema.ts';

/** The table of used answers. */
export const confirmationSchema: readonly Table[] = [
  {
    name: 'confirmations',
    columns: {
      nonce: words(32),
      // The call that came first with it.
      call_id: id,
      used_at: integer,
    },
    primary: ['nonce'],
    indexes: [['used_at']],
  },
];
