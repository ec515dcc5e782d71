import { existsSync } from 'node:fs';
import Libsql from 'libsql';

/**
 * Copies an SQLite database as it is at this moment into a new file, beside processes that use it: they are held up by
 * nothing. What was deleted is not in the copy.
 * @param path as it is in DATABASE_URL after `sqlite:`
 * @returns false when there is no such file
 */
export function copyDatabase(path: string, target: string): boolean {
  if (!existsSync(path)) return false;
  const database = new Libsql(path);
  try {
    database.exec('PRAGMA busy_timeout = 5000');
    database.prepare('VACUUM INTO ?').run(target);
  } finally {
    database.close();
  }
  return true;
}
