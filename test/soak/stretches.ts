import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import type { Executor } from '../../plugins/storage/executor.ts';
import { type Traffic, tallyTries } from '../harness/traffic.ts';
import { type Sample, sampleAll } from './samples.ts';
import { type ReadMessage, type Stretch, stretchesOf, tableOf } from './table.ts';

/** A process that can be killed and started again. */
export interface Soaked {
  readonly pid: number;
  kill(): Promise<void>;
  /** Resolves once it is ready. */
  start(): Promise<void>;
}

/** What processes showed between their kills. */
export interface Soaking {
  readonly samples: readonly Sample[];
  /** Where a stretch ends, in order, on the monotonic clock. */
  readonly ends: readonly number[];
}

/** Lets stretches pass, with a kill of the next process in turn between two, and takes samples meanwhile. */
export async function killBetween(
  processes: readonly Soaked[],
  databaseFolder: string,
  { kills, stretchMs }: { readonly kills: number; readonly stretchMs: number },
): Promise<Soaking> {
  const ended = new AbortController();
  const pids = () => processes.map(({ pid }) => pid);
  const periodMs = Math.min(5_000, stretchMs / 10);
  const sampling = sampleAll(pids, databaseFolder, periodMs, ended.signal);
  const ends: number[] = [];
  try {
    for (let kill = 0; kill <= kills; kill += 1) {
      await sleep(stretchMs);
      ends.push(performance.now());
      const killed = processes[kill % processes.length];
      if (kill === kills) break;
      await killed?.kill();
      await killed?.start();
    }
  } finally {
    ended.abort();
  }
  return { samples: await sampling, ends };
}

/** Shows the stretches of a traffic as a table; checks that the last was like the one after the first, which warms up. */
export async function checkFlat(
  t: Test,
  traffic: Traffic,
  rows: Executor,
  soaking: Soaking,
): Promise<readonly Stretch[]> {
  const { tries } = traffic;
  const stretches = stretchesOf({ tries, reads: await readMessages(rows, traffic), ...soaking });
  for (const line of tableOf(stretches)) t.comment(line);
  t.comment(JSON.stringify(tallyTries(tries)));
  const [begin, last] = [stretches[1], stretches.at(-1)];
  if (begin === undefined || last === undefined) throw new Error('there was no traffic');
  t.ok(last.memory < 1.3 * begin.memory + 30, 'memory is flat');
  t.ok(last.descriptors < 1.3 * begin.descriptors + 30, 'descriptors are flat');
  t.ok(last.bytesEach < 1.2 * begin.bytesEach, 'a message takes no more of the database');
  t.ok(last.log < 2 * begin.log + 10, 'the log of the database is flat');
  t.ok(last.acceptMedian < 2 * begin.acceptMedian + 5, 'accepting is as fast as at first');
  t.ok(last.readMedian < 2 * begin.readMedian + 50, 'messages are read as soon as at first');
  return stretches;
}

async function readMessages(rows: Executor, { lines }: Traffic): Promise<readonly ReadMessage[]> {
  const reads: ReadMessage[] = [];
  for (const { account } of lines) {
    const found = await rows.rows<{ begun: number; ended: number }>(
      `select created_at as begun, read_at as ended from messages
       where account_id = ? and direction = 'outbound' and read_at is not null`,
      [account],
    );
    for (const { begun, ended } of found) {
      reads.push({ at: begun - performance.timeOrigin, tookMs: ended - begun });
    }
  }
  return reads;
}
