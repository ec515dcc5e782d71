import type { DatabasePools } from '../../../plugins/storage/connection.ts';
import { Executor } from '../../../plugins/storage/executor.ts';
import { accountRow, insert } from '../seed.ts';
import { statementMs, withoutIndexes } from './bare-table.ts';
import {
  contactStatements,
  idOf,
  keyStatement,
  logStatements,
  messageStatement,
  momentOf,
  type PastFrame,
  phoneOf,
  type Statement,
  sequenceStatements,
  usageStatements,
} from './statements.ts';

/** How much a tenant has behind it. */
export interface HistorySize {
  readonly messages: number;
  readonly contacts: number;
  readonly accounts: number;
}

/** Whose past is made up. */
export interface Past extends HistorySize {
  readonly tenantId: string;
  /** Accounts of the tenant that are there already; they get most of the messages. */
  readonly live: readonly string[];
  /** A subscription of the tenant, whose log is filled. */
  readonly webhookId: string;
}

/** A row by which a list is ordered: what its cursor holds. */
export type Place = readonly [createdAt: number, id: string];

/** The places in a tenant's past, counted from the oldest row on. */
export interface History {
  readonly size: HistorySize;
  message(n: number): Place;
  contact(n: number): Place;
  contactPhone(n: number): string;
}

const hourMs = 3_600_000;
const pastMs = 90 * 24 * hourMs;

/** What accounts and contacts are looked up in while a past is made. */
const scratchTables = {
  bench_accounts: 'n integer primary key, id varchar(40) not null, waits integer not null',
  bench_contacts:
    'n integer primary key, id varchar(40) not null, account_id varchar(40) not null, waits integer not null',
};

/**
 * Puts ninety days of each tenant into the tables past the gateway, which must not run: accounts without a session,
 * contacts, messages both ways in every status, and what the last of them left in the outbox, the log of deliveries
 * and the counters. A few accounts and contacts have most of the messages. The first past is the large one. The
 * database computes it, for which a million rows are little.
 */
export async function seedHistories(
  { write, dialect }: Pick<DatabasePools, 'write' | 'dialect'>,
  pasts: readonly Past[],
): Promise<readonly History[]> {
  const executor = new Executor(write, dialect);
  // Sorting its indexes in 2 MB of memory would take it minutes.
  if (dialect === 'sqlite') await write.raw('pragma cache_size = -400000');
  const endAt = Date.now() - hourMs;
  const frames = pasts.map(
    (past, n): PastFrame => ({
      ...past,
      dialect,
      mark: String(n).padStart(2, '0'),
      startAt: endAt - pastMs,
      endAt,
    }),
  );
  await withoutIndexes(executor, 'messages', async () => {
    for (const [n, frame] of frames.entries()) await fill(executor, frame, pasts[n]?.live ?? []);
  });
  for (const frame of frames) {
    const statements = [...sequenceStatements(frame), ...logStatements(frame), keyStatement(frame)];
    await runAll(executor, statements);
  }
  return frames.map(historyOf);
}

/** Fills what needs no index of the messages. */
async function fill(executor: Executor, frame: PastFrame, live: readonly string[]): Promise<void> {
  const { tenantId, accounts } = frame;
  for (const [table, columns] of Object.entries(scratchTables)) {
    await executor.run(`create table ${table} (${columns})`);
  }
  const isLive = (n: number): boolean => n < live.length;
  // One of five has logged out; the others try to come back.
  const waits = (n: number): boolean => !isLive(n) && n % 5 > 0;
  const accountId = (n: number): string => live[n] ?? idOf(frame, 'acc', n);
  await insert(executor, 'bench_accounts', accounts, (n) => ({
    n,
    id: accountId(n),
    waits: waits(n) ? 1 : 0,
  }));
  await insert(executor, 'accounts', accounts - live.length, (place) => {
    const n = place + live.length;
    const row = accountRow(tenantId, accountId(n), n);
    return waits(n) ? row : { ...row, status: 'disconnected', reason: 'logged_out', linked: 0 };
  });
  await runAll(executor, [
    ...contactStatements(frame),
    messageStatement(frame),
    ...usageStatements(frame),
  ]);
  for (const table of Object.keys(scratchTables)) await executor.run(`drop table ${table}`);
}

async function runAll(executor: Executor, statements: readonly Statement[]): Promise<void> {
  for (const { sql, values } of statements) {
    await executor.knex.raw(sql, [...values]).options({ timeout: statementMs });
  }
}

function historyOf(frame: PastFrame): History {
  const { messages, contacts, accounts } = frame;
  return {
    size: { messages, contacts, accounts },
    message: (n) => [momentOf(frame, messages, n), idOf(frame, 'msg', n)],
    contact: (n) => [momentOf(frame, contacts, n), idOf(frame, 'con', n)],
    contactPhone: phoneOf,
  };
}
