import { createIndex, dropIndex } from './schema.ts';
import type { MigrationStep } from './steps.ts';

/** What the loop guard counts by: how often a contact has written lately, whatever was written to it. */
export const contactDirections: MigrationStep = {
  name: '005-contact-directions',
  major: 1,
  async apply(executor) {
    await createIndex(executor, 'messages', ['contact_id', 'direction', 'created_at']);
    await dropIndex(executor, 'messages', ['contact_id', 'created_at']);
  },
};
