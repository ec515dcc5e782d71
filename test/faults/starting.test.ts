import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../harness/ports.ts';
import { scale } from '../harness/scale.ts';
import { until } from '../harness/story.ts';

const project = join(import.meta.dirname, '../..');

/** Every way in which the documents start a program that stays. */
const ways: Readonly<Record<string, { command: readonly string[]; ready: RegExp }>> = {
  'npm start': { command: ['npm', 'start'], ready: /Live API key/ },
  'npm run gateway': { command: ['npm', 'run', 'gateway', '--', 'serve'], ready: /Live API key/ },
  node: { command: ['node', 'config/launch.mjs', 'main.ts', 'serve'], ready: /Live API key/ },
  'npm run simulated-network': {
    command: ['npm', 'run', 'simulated-network'],
    ready: /listening on port/,
  },
};

/** The processes of a group that are no zombies. */
async function membersOf(group: number): Promise<readonly string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(
    ids.map((id) => readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')),
  );
  return stats.filter((stat) => {
    // The name, in parentheses, may hold anything; state, parent and group come behind it.
    const [state, , of] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(of) === group && state !== 'Z';
  });
}

for (const [place, [way, { command, ready }]] of Object.entries(ways).entries()) {
  for (const [nth, signal] of (['SIGTERM', 'SIGINT'] as const).entries()) {
    for (const [mth, to] of (['the top process', 'the group'] as const).entries()) {
      // A small run starts each way once, with each pair of a signal and its target in turn.
      if (scale < 1 && nth * 2 + mth !== place) continue;
      t.test(`${way} leaves nothing behind after ${signal} to ${to}`, async (t) => {
        const dataDir = await mkdtemp(join(tmpdir(), 'starting-'));
        t.teardown(() => rm(dataDir, { recursive: true, force: true }));
        const port = await freePort();
        const [file = '', ...args] = command;
        const { NODE_OPTIONS: _, ...env } = process.env;
        const child = spawn(file, args, {
          cwd: project,
          detached: true,
          env: {
            ...env,
            DATA_DIR: dataDir,
            PORT: String(port),
            ...(way.endsWith('network') ? { SIMULATED_NETWORK_URL: 'tcp://127.0.0.1:0' } : {}),
          },
          stdio: ['ignore', 'pipe', 'ignore'],
        });
        const exit = once(child, 'exit');
        const { pid } = child;
        if (pid === undefined) throw new Error(`${file} did not start`);
        t.teardown(async () => {
          if ((await membersOf(pid)).length > 0) process.kill(-pid, 'SIGKILL');
        });
        let output = '';
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          output += text;
        });
        await until(
          () => `${way} to be ready: ${output}`,
          async () => (ready.test(output) ? true : undefined),
          60_000,
        );
        process.kill(to === 'the group' ? -pid : pid, signal);
        t.same(await exit, [0, null], 'a clean exit');
        // Nobody waits for those that npm has started: they may be ending still.
        const isEmpty = async () => (await membersOf(pid)).length === 0 || undefined;
        await until('the group to be empty', isEmpty, 5_000).catch(() => undefined);
        t.same(await membersOf(pid), [], 'no process is left');
      });
    }
  }
}
