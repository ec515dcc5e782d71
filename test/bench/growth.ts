import { setTimeout as sleep } from 'node:timers/promises';
import type { TestDatabase } from '../harness/databases.ts';
import type { Bench, BenchRun, Figure } from './bench.ts';
import { type IdleCost, idleCosts } from './growth/idle.ts';
import { operations, type TimedOperation } from './growth/operations.ts';
import type { HistorySize } from './growth/seed.ts';
import { type Side, startSide } from './growth/side.ts';
import type { Subject } from './growth/subject.ts';
import { median } from './statistics.ts';

const small: HistorySize = { messages: 1_000, contacts: 100, accounts: 10 };

/** Times that an operation is made in a round, at the least; and once for nothing, so that both sides are warm. */
const fewest = 10;

/** Until the background has dealt with what was sent, milliseconds. */
const calmMs = 1_500;

/** What an operation costs at a million messages, and what it costs the tenant beside. */
export const growth: Bench = {
  name: 'growth',
  about: '1,000,000 messages, 100,000 contacts, 1,000 accounts. Floor: 1,000, 100 and 10.',
  run: (run) => measure(run, 'mariadb', 1),
};

/** The same on the embedded database, a quarter as large. */
export const growthEmbedded: Bench = {
  name: 'growth-embedded',
  about: 'SQLite with 250,000 messages, 25,000 contacts, 250 accounts. Floor: 1,000, 100 and 10.',
  run: (run) => measure(run, 'sqlite', 0.25),
};

async function measure(
  run: BenchRun,
  engine: TestDatabase['name'],
  share: number,
): Promise<readonly Figure[]> {
  const grown = (full: number, least: number) => Math.max(least, run.count(full * share));
  const large = {
    messages: grown(1_000_000, small.messages),
    contacts: grown(100_000, small.contacts),
    accounts: grown(1_000, small.accounts),
  };
  const begunAt = performance.now();
  const sides = {
    large: await startSide(run, engine, large, small),
    small: await startSide(run, engine, small, small),
  };
  run.say(`filled and started in ${Math.round((performance.now() - begunAt) / 1000)} s`);
  const repetitions = Math.max(fewest, run.count(80));
  const medians = new Map<string, { readonly gateway: number[]; readonly floor: number[] }>();
  const idle: { readonly gateway: IdleCost[]; readonly floor: IdleCost[] } = {
    gateway: [],
    floor: [],
  };
  await timeAll(sides, fewest, 0);
  for (let round = 1; round <= run.rounds; round += 1) {
    await sleep(calmMs);
    for (const side of [sides.large, sides.small]) await side.recall();
    const found = await timeAll(sides, repetitions, round * repetitions);
    await sleep(calmMs);
    for (const [name, [gateway, floor]] of found) {
      const known = medians.get(name) ?? { gateway: [], floor: [] };
      known.gateway.push(gateway);
      known.floor.push(floor);
      medians.set(name, known);
    }
    const watched = await idleCosts([sides.large, sides.small], Math.max(3_000, run.count(6_000)));
    const [gateway, floor] = watched;
    if (gateway !== undefined && floor !== undefined) {
      idle.gateway.push(gateway);
      idle.floor.push(floor);
    }
    run.say(`round ${round} done`);
  }
  const slower = { atMost: 1.2 };
  return [
    ...[...medians].map(([name, found]) => ({ name, unit: 'ms', goal: slower, ...found })),
    // The embedded one works in the gateway's process.
    ...(engine === 'sqlite' ? (['gateway'] as const) : (['gateway', 'database'] as const)).map(
      (part) => ({
        name: `CPU while idle, ${part}`,
        unit: 'ms/s',
        goal: null,
        gateway: idle.gateway.map((cost) => cost[part]),
        floor: idle.floor.map((cost) => cost[part]),
      }),
    ),
    {
      name: 'from start to ready',
      unit: 'ms',
      goal: null,
      gateway: [sides.large.readyMs],
      floor: [sides.small.readyMs],
    },
  ];
}

/** The median times of all operations by both tenants, on the large side and on the small one. */
async function timeAll(
  sides: { readonly large: Side; readonly small: Side },
  repetitions: number,
  from: number,
): Promise<ReadonlyMap<string, readonly [large: number, small: number]>> {
  const found = new Map<string, readonly [number, number]>();
  for (const operation of operations) {
    for (const who of ['tenant', 'neighbour'] as const) {
      const name = who === 'tenant' ? operation.name : `${operation.name}, neighbour`;
      const subjects = [sides.large[who], sides.small[who]] as const;
      found.set(name, await timeInTurns(operation, subjects, repetitions, from));
    }
  }
  return found;
}

/** One client each, one after the other, so that what else the machine does meets both alike. */
async function timeInTurns(
  operation: TimedOperation,
  [large, small]: readonly [Subject, Subject],
  repetitions: number,
  from: number,
): Promise<readonly [large: number, small: number]> {
  const times: { readonly large: number[]; readonly small: number[] } = { large: [], small: [] };
  for (let n = from; n < from + repetitions; n += 1) {
    const turns = [
      async () => times.large.push(await operation.time(large, n)),
      async () => times.small.push(await operation.time(small, n)),
    ];
    for (const turn of n % 2 === 0 ? turns : turns.reverse()) await turn();
  }
  return [median(times.large), median(times.small)];
}
