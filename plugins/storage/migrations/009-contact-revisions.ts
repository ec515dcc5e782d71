import { addColumn, createIndex, zero } from './schema.ts';
import type { MigrationStep } from './steps.ts';

/**
 * What a process needs to remember contacts from one send to the next: how often those of a tenant were changed, and
 * of each process how many steps of the schema it knows, as those of the version before do not count changes.
 */
export const contactRevisions: MigrationStep = {
  name: '009-contact-revisions',
  major: 1,
  async apply(executor) {
    await addColumn(executor, 'tenants', 'contacts_revision', zero);
    await addColumn(executor, 'processes', 'schema_steps', zero);
    await createIndex(executor, 'processes', ['schema_steps']);
  },
};
