import { setTimeout as sleep } from 'node:timers/promises';
import { startNetwork as startChatapp } from '../drivers/chatapp/network-process.ts';
import { runGateway } from '../harness/gateway.ts';
import { chatappNetwork } from '../harness/live-chatapp.ts';
import { msgappNetwork } from '../harness/live-msgapp.ts';
import type { LiveNetwork } from '../harness/live-network.ts';
import { startProcess, type Teardown } from '../harness/processes.ts';
import { until } from '../harness/story.ts';
import { startNetwork as startMsgapp } from '../networks/msgapp_web/process.ts';
import { alone } from './alone.ts';
import type { BenchRun, Figure } from './bench.ts';
import { settledMemory } from './process-usage.ts';

/** In which what follows a log-in is done, milliseconds. */
const restMs = 3_000;

/** A network with the real protocol, and what one account takes with nothing but the library, in bytes. */
export interface LiveSide {
  readonly channel: string;
  readonly count: number;
  readonly network: (t: Teardown) => Promise<LiveNetwork>;
  readonly library: (t: Teardown, count: number) => Promise<number>;
}

export const liveSides: readonly LiveSide[] = [
  {
    channel: 'chatapp',
    count: 300,
    network: chatappNetwork,
    async library(t, count) {
      const { control, settings } = await startChatapp(t);
      const program = ['--expose-gc', 'test/drivers/chatapp/idle-accounts.ts', 'library'];
      const env = { ...settings, KEYS: JSON.stringify(await control.provision(count + 1)) };
      const started = startProcess(t, [...program, String(count)], env);
      const [, bytes] = await started.waitFor(/^bytes (\d+)$/m, 300_000);
      return Number(bytes);
    },
  },
  {
    channel: 'msgapp_web',
    count: 100,
    network: msgappNetwork,
    async library(t, count) {
      const { url, control, rootPublicKey } = (await startMsgapp(t)).places;
      const program = ['--expose-gc', 'test/networks/msgapp_web/idle.ts', 'bare', String(count)];
      const started = startProcess(t, [...program, url, control, rootPublicKey]);
      const [line = ''] = await started.waitFor(/^\{.*\}$/m, 300_000);
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
      await alone((t) => library(t, many)),
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
  since: 'linked' | 'restarted',
): Promise<number> {
  const network = await start(t);
  const gateway = await runGateway(t, {
    databaseUrl: null,
    program: ['test/bench/settling-main.ts', 'serve'],
    settings: network.settings,
  });
  const databaseUrl = `sqlite:${gateway.dataDir}/gateway.db`;
  const lines = await network.link({ gateway, databaseUrl, count });
  if (since === 'restarted') {
    const before = await network.logins();
    await gateway.stop();
    await gateway.start();
    await until(
      'all accounts to log in',
      async () => {
        const now = await network.logins();
        return lines.every(({ phone }) => (now[phone] ?? 0) > (before[phone] ?? 0)) || undefined;
      },
      120_000,
    );
  }
  await sleep(restMs);
  return (await settledMemory({ pid: gateway.pid(), output: gateway.output })).held;
}
