import { dropIndex } from './schema.ts';
import type { MigrationStep } from './steps.ts';

/**
 * Lists of both directions are read from the two of one direction each. MariaDB and MySQL keep the indexes that this
 * makes needless until no process can be left that names them; a file has one version of the gateway at a time.
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
