import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runGateway } from '../harness/gateway.ts';
import type { Teardown } from '../harness/processes.ts';
import { openRows } from '../harness/rows.ts';
import { pair, phoneNumber } from '../harness/story.ts';
import { alone } from './alone.ts';
import type { Bench, Figure } from './bench.ts';
import { stopUnderLoad } from './stop-under-load.ts';

/** As `npm start` does it, with what `npm ci` has compiled. */
const program = ['config/launch.mjs', 'main.ts', 'serve'];
/** What the gateway gives itself for a clean stop, seconds. */
const graceS = 20;

/** From the start of the process to ready on the embedded database, and from SIGTERM to its end. */
export const start: Bench = {
  name: 'start',
  about:
    'Started on a fresh data folder and on one with an account; stopped while clients send and wait.',
  async run(run) {
    // Of the sources as they are now.
    await promisify(execFile)(process.execPath, ['config/compile.mjs']);
    const rounds: Round[] = [];
    for (let round = 0; round < Math.min(run.rounds, 3); round += 1) {
      const found = await alone(measure);
      rounds.push(found);
      run.say(`round ${round + 1}: ${JSON.stringify(found)}`);
    }
    const figure = (part: keyof Round, name: string, atMost: number): Figure => ({
      name,
      unit: 's',
      gateway: rounds.map((round) => round[part]),
      floor: null,
      goal: { atMost },
    });
    return [
      figure('fresh', 'until ready, fresh data folder', 2),
      figure('again', 'until ready, data folder with an account', 2),
      figure('stopped', 'from SIGTERM to the end, light load', graceS),
    ];
  },
};

/** Seconds. */
interface Round {
  readonly fresh: number;
  readonly again: number;
  readonly stopped: number;
}

/** @throws Error when the stop was not clean, or lost something */
async function measure(t: Teardown): Promise<Round> {
  const dataDir = await mkdtemp(join(tmpdir(), 'start-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const startedAt = performance.now();
  const gateway = await runGateway(t, { databaseUrl: null, dataDir, program });
  const fresh = (performance.now() - startedAt) / 1_000;
  await pair(gateway.api, phoneNumber(1));
  const { accepted, tookMs } = await stopUnderLoad(gateway);
  const rows = openRows(t, `sqlite:${join(dataDir, 'gateway.db')}`);
  const [kept] = await rows.rows<{ count: number }>('select count(*) as count from messages');
  if (kept?.count !== accepted) throw new Error(`${kept?.count} kept of ${accepted} accepted`);
  const startedAgainAt = performance.now();
  await gateway.start();
  const again = (performance.now() - startedAgainAt) / 1_000;
  return { fresh, again, stopped: tookMs / 1_000 };
}
