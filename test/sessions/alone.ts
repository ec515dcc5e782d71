import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import { alone } from '../bench/alone.ts';
import { heldMemory, type LiveSide } from '../bench/live-sessions.ts';
import { computedMs } from '../bench/process-usage.ts';
import { client } from '../harness/client.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import type { LiveNetwork } from '../harness/live-network.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import type { Line } from '../harness/sending.ts';
import { outage } from '../harness/storm-stories.ts';
import { mostLogIns, Storms } from '../harness/storms.ts';
import { burstRates } from './burst.ts';
import type { Figure } from './figures.ts';
import { count, periodMs, settings } from './settings.ts';

/** In which all are to be live again after a start or an outage, milliseconds. */
const liveMs = 60_000;

interface Process {
  readonly network: LiveNetwork;
  readonly gateway: RunningGateway;
  readonly lines: readonly Line[];
}

/** Measures so many sessions in one process on the embedded database, beside a process with one. */
export async function measureAlone(t: Test, side: LiveSide): Promise<readonly Figure[]> {
  const [many, one] = [await start(t, side, count), await start(t, side, 1)];
  const idle = await idleShare(many.gateway);
  const held = (await heldMemory(many.gateway)) - (await heldMemory(one.gateway));
  const each = held / (count - 1) / 1_024;
  const bare = (await alone((t) => side.library(t, count, 'restarted'))) / 1_024;
  const { started, back } = await weather(t, many);
  const [rate, rateAlone] = await burstBeside(many, one);
  return [
    { name: 'memory of each session, to the library', value: each / bare, ...atMost(1.5, '') },
    { name: 'memory of each session', value: each, unit: 'KB', goal: null },
    { name: 'memory of each with the bare library', value: bare, unit: 'KB', goal: null },
    { name: 'idle, of one core', value: idle * 100, ...atMost(5, '%') },
    { name: 'live after a start', value: started.tookMs / 1_000, ...atMost(60, 's') },
    { name: 'log-ins a second then', value: started.busiest, ...atMost(mostLogIns, '') },
    { name: 'live after an outage', value: back.tookMs / 1_000, ...atMost(60, 's') },
    { name: 'log-ins a second then', value: back.busiest, ...atMost(mostLogIns, '') },
    { name: 'one message into each account', value: back.inMs / 1_000, unit: 's', goal: null },
    { name: 'one message out of each', value: back.outMs / 1_000, unit: 's', goal: null },
    { name: "one account's burst beside idle ones", value: rate, unit: '/s', goal: null },
    { name: 'that burst, to a process with one', value: rate / rateAlone, unit: '', goal: null },
  ];
}

function atMost(most: number, unit: string) {
  return { unit, goal: { atMost: most } };
}

async function start(t: Test, { network: startNetwork }: LiveSide, many: number): Promise<Process> {
  const network = await startNetwork(t);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    program: ['test/bench/settling-main.ts', 'serve'],
    settings: { ...network.settings, ...settings },
  });
  const databaseUrl = `sqlite:${gateway.dataDir}/gateway.db`;
  return {
    network,
    gateway,
    lines: await network.linkedAlready({ gateway, databaseUrl, count: many }),
  };
}

/** The share of a core that a process takes while nothing happens. */
async function idleShare({ pid }: RunningGateway): Promise<number> {
  await sleep(periodMs(10_000, 2_000));
  const before = computedMs(pid());
  // Within that, drivers ask their networks more than once, and V8 collects what the start has left.
  const idleMs = periodMs(300_000, 5_000);
  await sleep(idleMs);
  return (computedMs(pid()) - before) / idleMs;
}

/** A start and an outage of the network, each followed by a message each way for each account. */
async function weather(t: Test, { network, gateway, lines }: Process) {
  const played = new Storms(network, lines, openRows(t, `sqlite:${gateway.dataDir}/gateway.db`));
  const api = client(gateway.baseUrl, gateway.liveKey);
  const all = { api, origins: [new URL(gateway.baseUrl).origin], withinMs: liveMs };
  const stopAndStart = async (): Promise<void> => {
    t.equal(await gateway.stop(), 0);
    await gateway.start();
  };
  return {
    started: await played.storm(t, 'a start', stopAndStart, { ...all, fences: 1 }),
    back: await played.storm(t, 'an outage', () => outage(network), { ...all, fences: 0 }),
  };
}

async function burstBeside(many: Process, one: Process): Promise<readonly [number, number]> {
  const sides = [many, one].map(({ lines, ...side }) => {
    const line = lines.at(-1);
    if (line === undefined) throw new Error('nothing is linked');
    return { ...side, line };
  });
  const [beside, by] = sides;
  if (beside === undefined || by === undefined) throw new Error('there are two processes');
  return await burstRates([beside, by], { sends: 200, rounds: scaled(5, 1) });
}
