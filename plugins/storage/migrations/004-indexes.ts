import { createIndex } from './schema.ts';
import type { MigrationStep } from './steps.ts';

/** What a tenant's contacts are found by whatever their channel, and its accounts are counted by. */
export const furtherIndexes: MigrationStep = {
  name: '004-indexes',
  major: 1,
  async apply(executor) {
    await createIndex(executor, 'contacts', ['tenant_id', 'phone']);
    await createIndex(executor, 'accounts', ['tenant_id', 'removed_at', 'status']);
  },
};
