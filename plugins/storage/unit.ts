import type { Knex } from 'knex';
import type { Lock, Mark, Tables, Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Connections } from './connection.ts';
import { Executor } from './executor.ts';
import { faultOf, leavesCommitOpen } from './faults.ts';

/** Makes the table objects that work on an executor. */
export type TablesMaker = (executor: Executor) => Tables;

/** What a transaction needs of the storage it belongs to. */
export interface UnitParts {
  readonly connections: Connections;
  readonly tables: TablesMaker;
  readonly log: GatewayLog;
  /** Told of each mark of a transaction that became durable. */
  committed(mark: Mark): void;
}

/** The result of a committed transaction; `signal` runs what was meant for after the commit. */
export interface Committed<Result> {
  readonly result: Result;
  signal(): void;
}

/**
 * The connection was lost while COMMIT ran: whether the transaction is durable has to be looked up.
 * `signal` is for the case that it is.
 */
export class CommitUnknown extends Error {
  readonly signal: () => void;

  constructor(cause: unknown, signal: () => void) {
    super('the connection was lost during COMMIT', { cause });
    this.name = 'CommitUnknown';
    this.signal = signal;
  }
}

/**
 * Runs `work` in one transaction, after taking the rows of `locks` in the one order that all use.
 * A lock whose row does not exist holds nobody up.
 * @throws CommitUnknown, the database's error, or what `work` throws; rolled back in the latter two cases
 */
export async function transact<Result>(
  parts: UnitParts,
  locks: readonly Lock[],
  work: (unit: Unit) => Promise<Result>,
): Promise<Committed<Result>> {
  const transaction = await begin(parts.connections);
  let refused: unknown;
  transaction.on('query-error', (error: unknown) => {
    refused ??= error;
  });
  const signals: (() => void)[] = [];
  const executor = new Executor(transaction, parts.connections.dialect);
  let result: Result;
  try {
    const now = await lock(executor, locks);
    result = await work({
      ...parts.tables(executor),
      now,
      afterCommit: (signal) => signals.push(signal),
    });
    // After a deadlock the server has rolled back already, and what followed stands outside of any
    // transaction: an error that the work caught must not be committed over.
    if (refused !== undefined && faultOf(refused) !== 'other') throw refused;
  } catch (error) {
    await rollBack(transaction, error);
    // What the lost connection does to later statements says less than the first error.
    throw refused !== undefined && faultOf(error) === 'other' && faultOf(refused) !== 'other'
      ? refused
      : error;
  }
  for (const mark of executor.marks) signals.push(() => parts.committed(mark));
  const signal = () => signalAll(signals, parts.log);
  try {
    await commit(transaction);
  } catch (error) {
    throw leavesCommitOpen(error) ? new CommitUnknown(error, signal) : error;
  }
  return { result, signal };
}

/** Begins a transaction. The caller ends it with `commit` or `rollBack`. */
export async function begin(connections: Connections): Promise<Knex.Transaction> {
  const transaction = await connections.write.transaction();
  // knex hands out a transaction whose BEGIN failed, too; this then rejects with the reason.
  if (transaction.isCompleted()) await transaction.executionPromise;
  // A rollback rejects it as well; whoever must know is told otherwise.
  transaction.executionPromise.catch(() => undefined);
  return transaction;
}

/** Rolls back; never rejects, since a lost connection has been rolled back by the server. */
export async function rollBack(transaction: Knex.Transaction, cause: unknown): Promise<void> {
  await transaction.rollback(cause).catch(() => undefined);
}

/** Commits. @throws the error of COMMIT, whose outcome may then be unknown: `leavesCommitOpen` */
export async function commit(transaction: Knex.Transaction): Promise<void> {
  // The first resolves even when COMMIT fails; the second tells.
  await transaction.commit();
  await transaction.executionPromise;
}

/** Takes the rows and answers the database's clock as it stood once the last was taken. */
async function lock(executor: Executor, locks: readonly Lock[]): Promise<number> {
  if (executor.dialect === 'sqlite') return Date.now();
  const tenants = idsOf(locks, 'tenant:');
  const leases = idsOf(locks, 'lease:');
  const receivers = idsOf(locks, 'receiver:');
  let now = 0;
  for (const [table, column, ids] of [
    ['tenants', 'id', tenants],
    ['leases', 'account_id', leases],
    ['receivers', 'id', receivers],
  ] as const) {
    if (ids.length === 0) continue;
    // The primary key gives the order, and a scan of the table would wait for rows of others.
    const rows = await executor.rows<{ now: number }>(
      `select ?? as id, ${mysqlNow} as now from ?? force index (primary)
       where ?? in (${ids.map(() => '?').join(', ')}) order by ?? for update`,
      [column, table, column, ...ids, column],
    );
    now = rows.reduce((latest, row) => Math.max(latest, row.now), now);
  }
  return now > 0 ? now : mysqlClock(executor);
}

/** Milliseconds since the epoch when the row is read, not when the statement began. The session is at UTC. */
const mysqlNow = 'cast(unix_timestamp(sysdate(3)) * 1000 as signed)';

/** MariaDB's or MySQL's clock, milliseconds since the Unix epoch. */
export async function mysqlClock(executor: Executor): Promise<number> {
  const [row] = await executor.rows<{ now: number }>(`select ${mysqlNow} as now`);
  if (row === undefined) throw new Error('the database did not tell the time');
  return row.now;
}

function idsOf(locks: readonly Lock[], prefix: 'tenant:' | 'lease:' | 'receiver:'): string[] {
  const ids = locks
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  return [...new Set(ids)].sort();
}

function signalAll(signals: readonly (() => void)[], log: GatewayLog): void {
  for (const signal of signals) {
    try {
      signal();
    } catch (error) {
      log.error({ err: error }, 'a signal after a commit failed');
    }
  }
}
