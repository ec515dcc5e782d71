import { createTable, id, integer, nullable, text, words, zero } from './schema.ts';
import type { MigrationStep } from './steps.ts';

/** Which files the media store holds, and for which message. */
export const mediaTable: MigrationStep = {
  name: '003-media',
  major: 1,
  async apply(executor) {
    await createTable(executor, {
      name: 'media_files',
      columns: {
        id: words(40),
        tenant_id: id,
        message_id: nullable(id),
        mime_type: nullable(text),
        file_name: nullable(text),
        size: nullable(integer),
        state: zero,
        created_at: integer,
      },
      primary: ['id'],
      indexes: [['state', 'created_at'], ['message_id']],
    });
  },
};
