import type { Executor } from '../executor.ts';
import { firstTables } from './001-first-tables.ts';

/**
 * One change of the schema.
 *
 * MariaDB commits each statement that changes a table by itself, so a crash may leave half of a step behind:
 * `apply` must be repeatable, statement by statement (`create … if not exists`). And it runs while processes
 * of the version before are still at work: within one major number it only adds, and what it adds is
 * nullable or has a default. An index may go when no statement names it.
 */
export interface MigrationStep {
  /** Unique, for ever; recorded when the step is done. */
  readonly name: string;
  /** Raised by a change that processes of the version before cannot live with. */
  readonly major: number;
  apply(executor: Executor): Promise<void>;
}

/** All steps, in the order in which they are applied. */
export const migrationSteps: readonly MigrationStep[] = [firstTables];
