import { leaveOutNulls } from './schema.ts';
import type { MigrationStep } from './steps.ts';

/** Keeps messages out of the indexes of numbers and network ids that they do not have: a queued one has a sequence only. */
export const sparseIndexes: MigrationStep = {
  name: '007-sparse-indexes',
  major: 1,
  async apply(executor) {
    for (const columns of [
      ['tenant_id', 'inbound_sequence'],
      ['account_id', 'sequence'],
      ['account_id', 'direction', 'network_id'],
    ]) {
      await leaveOutNulls(executor, 'messages', 'unique index', columns);
    }
    const ofAccount = ['tenant_id', 'account_id', 'inbound_sequence'];
    await leaveOutNulls(executor, 'messages', 'index', ofAccount);
  },
};
