import { setTimeout as pause } from 'node:timers/promises';
import { isUntrusted } from '../../../core/authority.ts';
import { integer, type Table, words } from '../../../core/contracts/schema.ts';
import { Executor } from '../executor.ts';
import { faultOf, refusesLogIn } from '../faults.ts';
import type { OpenStorage } from '../storage.ts';
import { createTable } from './schema.ts';
import type { MigrationStep } from './steps.ts';
import { refuseNewer } from './versions.ts';

// Not `knex.migrate`: its lock stays taken after a kill on MariaDB, and a second process fails where this one waits.
const doneSteps: Table = {
  name: 'schema_steps',
  columns: { name: words(190), major: integer, applied_at: integer },
  primary: ['name'],
};

/**
 * The server frees this lock by itself when its connection ends. Locks are the server's, so it names the database: in at most
 * 64 characters, by a hash that MySQL 9 still has.
 */
const lockName = "concat('gateway_migrate_', left(sha2(database(), 256), 40))";

/** How long one question for the lock waits on the server; below the limit of its silence. */
const lockWaitS = 3;

/**
 * Brings the database to this version's schema. Safe when several processes start at the same moment
 * (one does it, the others wait) and after one was killed halfway. Called at every start, and by the
 * command line.
 * @param steps all there are, in the order in which they are applied
 * @returns the names of the steps that were applied by this call
 * @throws StartRefusal when the database belongs to a newer version that this one cannot work with
 */
export async function migrate(
  storage: OpenStorage,
  steps: readonly MigrationStep[],
): Promise<readonly string[]> {
  // Without a lock first: the command line works beside a busy gateway.
  const done = await doneWithoutLock(storage);
  if (done !== null) {
    refuseNewer(done, steps);
    if (steps.every((step) => done.has(step.name))) return [];
  }
  const { dialect } = storage;
  const transaction = await storage.connections.begin();
  const { ask } = transaction;
  const executor = new Executor({ ask, knex: transaction.builder(ask) }, dialect);
  try {
    if (dialect === 'mysql') await takeLock(executor);
    const applied = await applyMissing(executor, steps);
    if (dialect === 'mysql') await executor.rows(`select release_lock(${lockName})`);
    await transaction.commit([]);
    return applied;
  } catch (error) {
    // The connection goes back to the pool: it must not keep the lock.
    if (dialect === 'mysql') {
      await executor.rows(`select release_lock(${lockName})`).catch(() => undefined);
    }
    await transaction.rollBack();
    throw error;
  }
}

/**
 * Waits until the database answers, for a server that is started at the same time as the gateway.
 * @throws the last error when it does not within so many milliseconds, and at once when it refuses for
 *   another reason, such as a wrong password
 */
export async function waitForDatabase(storage: OpenStorage, forMs: number): Promise<void> {
  const deadline = performance.now() + forMs;
  // On SQLite the connection that writes makes the file what it is.
  const { dialect, connections } = storage;
  const executor = new Executor(
    dialect === 'sqlite' ? connections.write : connections.read,
    dialect,
  );
  for (;;) {
    try {
      await executor.rows('select 1');
      return;
    } catch (error) {
      const isForGood = refusesLogIn(error) || isUntrusted(error);
      const passes = ['connection', 'contention'].includes(faultOf(error)) && !isForGood;
      if (!passes || performance.now() > deadline) throw error;
      await pause(250);
    }
  }
}

async function applyMissing(
  executor: Executor,
  steps: readonly MigrationStep[],
): Promise<readonly string[]> {
  await createTable(executor, doneSteps);
  const done = await readDone(executor);
  refuseNewer(done, steps);
  const applied: string[] = [];
  for (const step of steps) {
    if (done.has(step.name)) continue;
    await step.apply(executor);
    await executor.insertIgnore(doneSteps.name, [
      { name: step.name, major: step.major, applied_at: Date.now() },
    ]);
    applied.push(step.name);
  }
  return applied;
}

async function doneWithoutLock(storage: OpenStorage): Promise<ReadonlyMap<string, number> | null> {
  try {
    return await readDone(new Executor(storage.connections.read, storage.dialect));
  } catch {
    // No such table yet. Anything worse shows again under the lock.
    return null;
  }
}

async function readDone(executor: Executor): Promise<ReadonlyMap<string, number>> {
  const rows: { name: string; major: number }[] = await executor
    .knex(doneSteps.name)
    .select('name', 'major');
  return new Map(rows.map((row) => [row.name, row.major]));
}

async function takeLock(executor: Executor): Promise<void> {
  for (;;) {
    const [row] = await executor.rows<{ taken: number | null }>(
      `select get_lock(${lockName}, ${lockWaitS}) as taken`,
    );
    if (row?.taken === 1) return;
  }
}
