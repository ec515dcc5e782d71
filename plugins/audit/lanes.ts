import type { Lane, Unit } from '../../core/contracts/storage.ts';
import { pruneLane } from '../../core/pruning.ts';
import type { AuditedChange, AuditRecord } from './contract.ts';

/** The entry of a change that begins. */
export type BegunChange = Omit<AuditRecord, 'at' | 'outcome'>;

/** What a change with an entry has changed. */
export interface CompletedChange extends AuditedChange {
  readonly id: string;
}

/** Stores the entries of changes that begin. */
export const beginChange = auditLane<BegunChange>('audit.begin', ({ audit, now }, entries) =>
  audit.insertMissing(entries.map((entry) => ({ ...entry, at: now, outcome: 'unknown' }))),
);

/** Says in their entries that changes were made, and what they changed. */
export const completeChange = auditLane<CompletedChange>('audit.complete', ({ audit }, changes) =>
  audit.complete(changes),
);

/** Deletes the entries of changes that were not made. */
export const withdrawChange = auditLane<string>('audit.withdraw', ({ audit }, ids) =>
  audit.delete(ids),
);

/** Deletes old entries. */
export const pruneAudit = pruneLane('audit.prune', ({ audit }, { before, limit }) =>
  audit.deleteBefore(before, limit),
);

/** A lane that is repeatable: the ids of entries come with its inputs. */
function auditLane<Input>(
  name: string,
  store: (unit: Unit, inputs: readonly Input[]) => Promise<void>,
): Lane<Input, void> {
  return {
    name,
    locks: () => [],
    run: async (unit, inputs) => {
      await store(unit, inputs);
      return inputs.map(() => undefined);
    },
  };
}
