import type { DriverCapabilities } from '../../core/contracts/driver.ts';
import type { DeadlineMemory } from '../../core/shared-deadline.ts';
import type { OutsidePackage } from '../outside-package.ts';
import type { BlockingAnswers } from './blocking-calls.ts';

/** Between two signs of life of a thread, and between two checks for one, milliseconds. */
export const beatMs = 1_000;

/** What the program of a thread is handed. */
export interface ThreadData {
  readonly channel: string;
  readonly outside: OutsidePackage;
  readonly dataDir: string;
  /** The most memory that the driver may keep, in MiB. */
  readonly memoryMb: number;
  readonly answers: BlockingAnswers;
  /** Of the local deadline of the process's leases: past it no byte goes out. */
  readonly deadline: DeadlineMemory;
}

/** What a driver declares, as data; of its rules the descriptions. */
export interface DriverDeclaration {
  readonly capabilities: DriverCapabilities;
  readonly identifier: string | null;
  readonly address: string | null;
  readonly hasCredentialsOf: boolean;
}
