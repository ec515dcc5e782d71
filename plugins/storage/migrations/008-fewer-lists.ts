import { dropIndex } from './schema.ts';
import type { MigrationStep } from './steps.ts';

/**
 * On SQLite lists of both directions are put together from those of one, so that a commit writes fewer pages. On MariaDB
 * and MySQL little would be gained, and processes of the version before name these indexes.
 */
export const fewerLists: MigrationStep = {
  name: '008-fewer-lists',
  major: 1,
  async apply(executor) {
    if (executor.dialect === 'mysql') return;
    await dropIndex(executor, 'messages', ['tenant_id', 'created_at', 'id']);
    await dropIndex(executor, 'messages', ['tenant_id', 'account_id', 'created_at', 'id']);
  },
};
