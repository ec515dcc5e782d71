import type { Knex } from 'knex';
import { placeholders, type Sql } from '../../core/contracts/sql.ts';
import type { CommitTopic, Lock, Tables, Unit } from '../../core/contracts/storage.ts';
import type { GatewayLog } from '../../core/log.ts';
import type { Breaker } from './breaker.ts';
import type { DatabasePools } from './connection.ts';
import type { LockRows, StorageContents } from './contents.ts';
import { type Ask, Executor, type StatementRunner, type Transaction } from './executor.ts';
import { faultOf, fitForLog, leavesCommitUnknown } from './faults.ts';
import type { Statement } from './pipeline.ts';
import { mysqlNow } from './sql-text.ts';

/** Dependencies of a transaction: parts of its storage. */
export interface UnitParts {
  readonly connections: DatabasePools;
  readonly contents: StorageContents;
  readonly log: GatewayLog;
  /** The circuit, which is told of failures and of statements that passed. */
  readonly breaker: Pick<Breaker, 'recordFailure' | 'recordSuccess' | 'unavailable'>;
  /** Called for each topic of a transaction that became durable. */
  committed(topic: CommitTopic): void;
}

/** The result of a committed transaction; `signal` runs the after-commit signals. */
export interface Committed<Result> {
  readonly result: Result;
  signal(): void;
}

/**
 * The connection was lost during COMMIT, so that its outcome has to be looked up. `signal` runs the after-commit
 * signals, once, if it took place.
 */
export class CommitUnknown extends Error {
  readonly signal: () => void;

  constructor(cause: unknown, signal: () => void) {
    super('the connection was lost during COMMIT', { cause });
    this.name = 'CommitUnknown';
    let isTold = false;
    this.signal = () => {
      if (!isTold) signal();
      isTold = true;
    };
  }
}

/** How a transaction starts. */
export interface TransactionStart<Prefetched> {
  /** Row locks to take, in the global lock order. A missing row locks nothing. */
  readonly locks: readonly Lock[];
  /** Reads behind the locks, see `Lane.prefetch`. */
  prefetch?(tables: Tables): Promise<Prefetched> | undefined;
}

/**
 * Runs `work` in one transaction, after taking locks.
 * @throws CommitUnknown, the database's error, or what `work` throws; rolled back in the latter two cases
 */
export async function transact<Result, Prefetched>(
  parts: UnitParts,
  { locks, prefetch }: TransactionStart<Prefetched>,
  work: (unit: Unit, found: Prefetched | undefined) => Promise<Result>,
): Promise<Committed<Result>> {
  const { dialect } = parts.connections;
  const { tables: makeTables, locks: lockable } = parts.contents;
  const transaction = await parts.connections.begin();
  // The first error that ended the transaction; later ones only follow from it.
  let fatal: unknown;
  const watched: Ask = async (statement) => {
    try {
      return await transaction.ask(statement);
    } catch (error) {
      if (fatal === undefined && faultOf(error) !== 'other') fatal = error;
      throw fitForLog(error);
    }
  };
  const executor = new Executor(transactionRunner(transaction, watched), dialect);
  const signals: (() => void)[] = [];
  const last: Statement[] = [];
  const tables = makeTables(executor);
  let result: Result;
  try {
    // The locks are asked first, so that they are first in the packet.
    const locking = dialect === 'mysql' ? lock(transaction.ask, locks, lockable) : Date.now();
    const [now, found] = await Promise.all([locking, prefetch?.(tables)]);
    const unit: Unit = {
      ...tables,
      now,
      withCommit: makeTables(executor.deferring(last)),
      afterCommit: (signal) => void signals.push(signal),
    };
    result = await work(unit, found);
    // A deadlock has rolled back already, and later statements ran outside of any transaction: work that caught the
    // error must not commit.
    if (fatal !== undefined) throw fatal;
  } catch (error) {
    await transaction.rollBack();
    throw fatal !== undefined && faultOf(error) === 'other' ? fatal : error;
  }
  for (const topic of executor.commitTopics) signals.push(() => parts.committed(topic));
  const signal = () => signalAll(signals, parts.log);
  try {
    await transaction.commit(last);
  } catch (error) {
    throw leavesCommitUnknown(error) ? new CommitUnknown(error, signal) : error;
  }
  return { result, signal };
}

/** How statements enter a transaction. The query builder of knex is made on first use. */
function transactionRunner(transaction: Transaction, watched: Ask): StatementRunner {
  let builder: Knex | undefined;
  return {
    async ask(statement) {
      try {
        return await watched(statement);
      } catch (error) {
        // The statement goes in front of the message, as knex does it.
        if (error instanceof Error) error.message = `${statement.sql} - ${error.message}`;
        throw fitForLog(error);
      }
    },
    get knex() {
      builder ??= transaction.builder(watched);
      return builder;
    },
  };
}

/** Takes the row locks and answers the clock of the database after the last one. Asks at once. */
async function lock(
  ask: Ask,
  locks: readonly Lock[],
  lockable: readonly LockRows[],
): Promise<number> {
  const asked = lockable.flatMap(({ prefix, table, key }) => {
    const ids = idsOf(locks, prefix);
    if (ids.length === 0) return [];
    // The primary key gives the order, and a scan of the table would wait for rows of others.
    const sql = `select ${mysqlNow} as now from ${table} force index (primary)
       where ${key} in (${placeholders(ids.length)}) order by ${key} for update`;
    return [ask({ sql, bindings: ids, recurs: ids.length === 1 })];
  });
  const clock = { sql: `select ${mysqlNow} as now`, bindings: [] };
  if (asked.length === 0) asked.push(ask(clock));
  let now = 0;
  for (const answer of await Promise.all(asked)) now = Math.max(now, ...timesOf(answer));
  if (now > 0) return now;
  // None of the rows exists, so nothing was waited for.
  const [time] = timesOf(await ask(clock));
  return time ?? Date.now();
}

function timesOf(answer: unknown): readonly number[] {
  // What the statements of `lock` select, as mysql2 answers it.
  const [rows] = answer as readonly [readonly { readonly now: number }[]];
  return rows.map(({ now }) => now);
}

/** MariaDB's or MySQL's clock, milliseconds since the Unix epoch. */
export async function mysqlClock(sql: Sql): Promise<number> {
  const [row] = await sql.rows<{ now: number }>(`select ${mysqlNow} as now`);
  if (row === undefined) throw new Error('the database answered no time');
  return row.now;
}

function idsOf(locks: readonly Lock[], prefix: string): string[] {
  const ids = locks
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length));
  return [...new Set(ids)].sort();
}

/** Runs the after-commit signals. */
function signalAll(signals: readonly (() => void)[], log: GatewayLog): void {
  for (const signal of signals) {
    try {
      signal();
    } catch (error) {
      log.error({ err: error }, 'a signal after a commit failed');
    }
  }
}
