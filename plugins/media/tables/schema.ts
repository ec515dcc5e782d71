import {
  id,
  integer,
  nullable,
  type Table,
  text,
  words,
  zero,
} from '../../../core/contracts/schema.ts';

/** The tables of kept media. */
export const mediaTableSchema: readonly Table[] = [
  {
    name: 'media_files',
    columns: {
      id: words(40),
      tenant_id: id,
      message_id: nullable(id),
      // Of the message: an erasure of the person waits for these files.
      contact_id: nullable(id),
      mime_type: nullable(text),
      file_name: nullable(text),
      size: nullable(integer),
      state: zero,
      created_at: integer,
    },
    primary: ['id'],
    indexes: [
      ['state', 'created_at'],
      ['message_id'],
      ['contact_id', 'state', 'created_at'],
      ['tenant_id', 'state', 'created_at'],
    ],
  },
];
