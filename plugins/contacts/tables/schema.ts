import {
  id,
  integer,
  key,
  nullable,
  sparse,
  type Table,
  text,
  words,
  zero,
} from '../../../core/contracts/schema.ts';

/** The tables of contacts. */
export const contactTableSchema: readonly Table[] = [
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
      uncounted: zero,
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
      ['tenant_id', 'phone'],
      sparse('tenant_id', 'network_id'),
    ],
  },
  {
    name: 'contact_aliases',
    columns: { id, contact_id: id },
    primary: ['id'],
    indexes: [['contact_id']],
  },
];
