import { setTimeout as sleep } from 'node:timers/promises';
import {
  provisionedFile,
  startNetwork as startChatapp,
} from '../drivers/chatapp/network-process.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { chatappNetwork } from '../harness/live-chatapp.ts';
import { msgappNetwork } from '../harness/live-msgapp.ts';
import type { LiveNetwork } from '../harness/live-network.ts';
import { startProcess, type Teardown } from '../harness/processes.ts';
import { startNetwork as startMsgapp } from '../networks/msgapp_web/process.ts';
import { alone } from './alone.ts';
import type { BenchRun, Figure } from './bench.ts';
import { settledMemory } from './process-usage.ts';

/** In which what follows a log-in is done, milliseconds. */
const restMs = 3_000;

/** Whether sessions have just been linked, or were before their process began. */
export type Since = 'linked' | 'restarted';

/** A network with the real protocol, and what one account takes with nothing but the library, in bytes. */
export interface LiveSide {
  readonly channel: string;
  readonly count: number;
  readonly network: (t: Teardown) => Promise<LiveNetwork>;
  readonly library: (t: Teardown, count: number, since: Since) => Promise<number>;
}

export const liveSides: readonly LiveSide[] = [
  {
    channel: 'chatapp',
    count: 300,
    network: chatappNetwork,
    async library(t, count) {
      const network = await startChatapp(t);
      const program = ['--expose-gc', 'test/drivers/chatapp/idle-accounts.ts', 'library'];
      const env = { ...network.settings, KEYS_FILE: await provisionedFile(network, count) };
      const started = startProcess(t, [...program, String(count)], env);
      const [, bytes] = await started.waitFor(/^bytes (\d+)$/m, 600_000);
      return Number(bytes);
    },
  },
  {
    channel: 'msgapp_web',
    count: 100,
    network: msgappNetwork,
    async library(t, count, since) {
      const { url, control, rootPublicKey } = (await startMsgapp(t)).places;
      const kind = since === 'linked' ? 'bare' : 'resumed';
      const program = ['--expose-gc', 'test/networks/msgapp_web/idle.ts', kind, String(count)];
      const started = startProcess(t, [...program, url, control, rootPublicKey]);
      const [line = ''] = await started.waitFor(/^\{.*\}$/m, 600_000);
      return (JSON.parse(line) as { readonly perAccount: number }).perAccount;
    },
  },
];

/** Live accounts of the real protocols after a start, each compared with what the bare library takes for it. */
export async function liveSessions(run: BenchRun): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const { channel, count, network, library } of liveSides) {
    const many = run.count(count);
    const [held, one, bare] = [
      await alone((t) => heldWith(t, network, many, 'restarted')),
      await alone((t) => heldWith(t, network, 1, 'restarted')),
      await alone((t) => library(t, many, 'restarted')),
    ];
    const gateway = (held - one) / (many - 1);
    run.say(`${channel}: ${Math.round(gateway)} bytes a session, the library ${bare}`);
    figures.push({
      name: `memory held per live session of ${channel}, ${many}`,
      unit: 'KB',
      gateway: [gateway / 1_024],
      floor: [bare / 1_024],
      goal: { atMost: 2 },
    });
  }
  return figures;
}

/** What a gateway holds of memory that was started with so many linked accounts, or has just linked them, in bytes. */
export async function heldWith(
  t: Teardown,
  start: (t: Teardown) => Promise<LiveNetwork>,
  count: number,
  since: Since,
): Promise<number> {
  const network = await start(t);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    program: ['test/bench/settling-main.ts', 'serve'],
    settings: network.settings,
  });
  const databaseUrl = `sqlite:${gateway.dataDir}/gateway.db`;
  const linking = { gateway, databaseUrl, count };
  await (since === 'linked' ? network.link(linking) : network.linkedAlready(linking));
  await sleep(restMs);
  return await heldMemory(gateway);
}

/** What a gateway of `settling-main.ts` holds of memory, in bytes. */
export async function heldMemory({ pid, output }: RunningGateway): Promise<number> {
  return (await settledMemory({ pid: pid(), output })).held;
}
