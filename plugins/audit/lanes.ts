import { pruneLane } from '../../core/pruning.ts';
import { writeLane } from '../../core/write-lane.ts';
import type { AuditedChange, AuditRecord } from './contract.ts';

/** The entry of a change that begins. */
export type BegunChange = Omit<AuditRecord, 'at' | 'outcome'>;

/** What a change with an entry has changed. */
export interface CompletedChange extends AuditedChange {
  readonly id: string;
}

/** Stores the entries of changes that begin; repeatable, as their ids come with them. */
export const beginChange = writeLane<BegunChange>('audit.begin', ({ audit, now }, entries) =>
  audit.insertMissing(entries.map((entry) => ({ ...entry, at: now, outcome: 'unknown' }))),
);

/** Says in their entries that changes were made, and what they changed. */
export const completeChange = writeLane<CompletedChange>('audit.complete', ({ audit }, changes) =>
  audit.complete(changes),
);

/** Deletes the entries of changes that were not made. */
export const withdrawChange = writeLane<string>('audit.withdraw', ({ audit }, ids) =>
  audit.delete(ids),
);

/** Deletes old entries. */
export const pruneAudit = pruneLane('audit.prune', ({ audit }, { before, limit }) =>
  audit.deleteBefore(before, limit),
);
