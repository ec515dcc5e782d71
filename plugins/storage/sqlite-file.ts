import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasCode } from '../../core/error-code.ts';
import { faultOf } from './faults.ts';

/** How long a writer waits for another process's transaction. */
const writeWaitMs = 5_000;

/**
 * Makes the database readable for this user only. SQLite gives its log and its index the mode of the file. A folder
 * that was empty belongs to the gateway alone; any other keeps its mode.
 * @throws the file system's error when the file cannot be read and written
 */
export function makePrivate(filename: string): void {
  const folder = dirname(filename);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    const isEmpty = readdirSync(folder).length === 0;
    // Only a new file is opened: closing one that is in use would drop SQLite's locks on it.
    closeSync(openSync(filename, 'wx', 0o600));
    if (isEmpty) restrict(folder, 0o700);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    refuseUnusable(filename);
    for (const ending of ['', '-wal', '-shm']) restrict(`${filename}${ending}`, 0o600);
  }
}

/** Refuses a file that this user cannot read and write. @throws the file system's error */
export function refuseUnusable(filename: string): void {
  accessSync(filename, constants.R_OK | constants.W_OK);
}

/** Removes the rights of other users from a file or folder of this user. A missing or foreign one stays as it is. */
function restrict(path: string, mode: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  const isOwn = found?.uid === process.getuid?.();
  if (found !== undefined && isOwn && (found.mode & 0o1077) > 0) chmodSync(path, mode);
}

/** Repeats an action that finds the file busy, without blocking the event loop in between. */
export async function whenFree(action: () => void): Promise<void> {
  const deadline = performance.now() + writeWaitMs;
  for (;;) {
    try {
      return action();
    } catch (error) {
      if (faultOf(error) !== 'contention' || performance.now() > deadline) throw error;
      await pause(1 + Math.random() * 9);
    }
  }
}
