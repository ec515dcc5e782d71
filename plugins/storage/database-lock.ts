import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Libsql from 'libsql';
import { StartRefusal } from '../../core/start-refusal.ts';
import { faultOf } from './faults.ts';

/**
 * Locks an SQLite database for gateways that serve, by a file of its own beside it, so that the command line still has
 * the database. The system gives the lock back when the process dies, however it dies.
 * @param path as it is in DATABASE_URL after `sqlite:`
 * @param how `alone` lets no other gateway in; `shared` only those that share it too
 * @returns gives it back
 * @throws StartRefusal that says what to do, when another gateway has the database
 */
export function lockDatabase(path: string, how: 'alone' | 'shared'): () => void {
  const file = resolve(path);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const lock = new Libsql(`${file}.lock`);
  try {
    lock.exec('PRAGMA busy_timeout = 0');
    if (how === 'alone') lock.exec('BEGIN EXCLUSIVE');
    else {
      // A transaction has its shared lock from its first read on.
      lock.exec('BEGIN');
      lock.exec('SELECT count(*) FROM sqlite_master');
    }
  } catch (error) {
    lock.close();
    if (faultOf(error) !== 'contention') throw error;
    const message = `another gateway uses ${file}; set DATABASE_URL and AMQP_URL to run several`;
    throw new StartRefusal(message, { cause: error });
  }
  return () => {
    lock.exec('ROLLBACK');
    lock.close();
  };
}
