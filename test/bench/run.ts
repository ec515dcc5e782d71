/**
 * `npm run bench` measures everything, `npm run bench -- accept mcp` these, `account` all of `account/…`; `--rounds=N` (5) and `--scale=N` (1) make
 * it longer or shorter; `--profile` tells where the gateway's processes spent their time, and keeps their profiles in
 * `bench-profiles`. Prints a table and writes it with every single figure to `bench.json`. The exit status says
 * whether every goal was reached.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { compileAsShipped } from '../program.ts';
import { askForServers } from '../servers/borrow.ts';
import { lendServers } from '../servers/lend.ts';
import { accept, acceptEmbedded } from './accept.ts';
import { accounts } from './account/account.ts';
import type { Bench, BenchRun } from './bench.ts';
import { deliveries } from './deliveries.ts';
import { growth, growthEmbedded } from './growth.ts';
import { thisMachine } from './machine.ts';
import { mcp } from './mcp.ts';
import { emptied, topOf } from './profile.ts';
import { receive } from './receive.ts';
import { type Row, rowOf, tableOf } from './report.ts';
import { sessions } from './sessions.ts';
import { start } from './start.ts';
import { through } from './through.ts';
import { waits } from './waits.ts';

const benches: readonly Bench[] = [
  accept,
  acceptEmbedded,
  through,
  receive,
  waits,
  deliveries,
  mcp,
  growth,
  growthEmbedded,
  sessions,
  start,
  ...accounts,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    scale: { type: 'string', default: '1' },
    profile: { type: 'boolean', default: false },
  },
});
/** By its name, or with others by what stands before a slash in it. */
const isNamed = (bench: Bench, name: string) =>
  bench.name === name || bench.name.startsWith(`${name}/`);
const unknown = positionals.find((name) => !benches.some((bench) => isNamed(bench, name)));
if (unknown !== undefined) {
  const names = benches.map(({ name }) => name).join(', ');
  throw new Error(`there is no bench "${unknown}": ${names}`);
}
const chosen = benches.filter(
  (bench) => positionals.length === 0 || positionals.some((name) => isNamed(bench, name)),
);
const profiles = resolve('bench-profiles');
const folder = mkdtempSync(join(tmpdir(), 'messaging-gateway-bench-'));
const rows = await lendServers(join(folder, 'servers.json'), runAll);
const table = tableOf(rows);
const machine = await thisMachine();
console.log(`\n${table}\n\n${JSON.stringify(machine)}`);
writeFileSync('bench.json', `${JSON.stringify({ machine, rows }, null, 2)}\n`);
process.exit(rows.some(({ reached }) => reached === false) ? 1 : 0);

async function runAll(): Promise<readonly Row[]> {
  await askForServers();
  process.env.TEST_PROGRAM = await compileAsShipped(join(folder, 'program'));
  const found: Row[] = [];
  for (const bench of chosen) {
    console.log(`\n${bench.name}: ${bench.about}`);
    found.push(...(await runOne(bench)));
  }
  return found;
}

/** Runs one bench and tears down what it has started. */
async function runOne(bench: Bench): Promise<readonly Row[]> {
  const teardowns: (() => Promise<void>)[] = [];
  if (values.profile) process.env.BENCH_PROFILES = emptied(join(profiles, bench.name));
  const run: BenchRun = {
    rounds: Number(values.rounds),
    count: (full) => Math.ceil(full * Number(values.scale)),
    say: (line) => console.log(`  ${line}`),
    teardown: (fn) => void teardowns.unshift(fn),
  };
  try {
    return (await bench.run(run)).map((figure) => rowOf(bench.name, figure));
  } finally {
    for (const fn of teardowns) await fn();
    if (values.profile) console.log(topOf(join(profiles, bench.name)));
  }
}
