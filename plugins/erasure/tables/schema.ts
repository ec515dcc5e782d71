import { id, integer, key, nullable, type Table, words } from '../../../core/contracts/schema.ts';

/** The table of erasures under way: a row is deleted when nothing is left of its subject. */
export const erasureTableSchema: readonly Table[] = [
  {
    name: 'erasures',
    columns: {
      id,
      tenant_id: id,
      contact_id: nullable(id),
      // Of an erased contact, until the last of its steps.
      channel: nullable(words(40)),
      phone: nullable(words(40)),
      network_id: nullable(key),
      created_at: integer,
    },
    primary: ['id'],
  },
];
