import type { Lane } from '../../core/contracts/storage.ts';
import { pruneLane } from '../../core/pruning.ts';
import type { AuditRecord } from './contract.ts';

/** Stores entries. Repeatable: the ids come with the input. */
export const recordChanges: Lane<Omit<AuditRecord, 'at'>, void> = {
  name: 'audit.record',
  locks: () => [],
  run: async (unit, entries) => {
    await unit.audit.insertMissing(entries.map((entry) => ({ ...entry, at: unit.now })));
    return entries.map(() => undefined);
  },
};

/** Deletes old entries. */
export const pruneAudit = pruneLane('audit.prune', ({ audit }, { before, limit }) =>
  audit.deleteBefore(before, limit),
);
