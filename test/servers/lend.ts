import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { cleanUp } from './cleanup.ts';
import { provideServers, type ServerName } from './provide.ts';

/**
 * Lends the servers to `work`, which finds their addresses in the environment, and takes them away again with every
 * process that `work` has left: whatever becomes of this process, too.
 * @param file where to note what was started; its folder is the run's own, and ends with it
 */
export async function lendServers<Result>(
  names: readonly ServerName[],
  file: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const warden = startWarden(file);
  process.env.TEST_SERVERS_FILE = file;
  try {
    Object.assign(process.env, await provideServers(names, file));
    return await work();
  } finally {
    cleanUp(file);
    await end(warden);
  }
}

type Warden = ReturnType<typeof startWarden>;

function startWarden(file: string) {
  return spawn(
    process.execPath,
    ['--import', 'tsx', join(import.meta.dirname, 'warden.ts'), file],
    {
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    },
  );
}

async function end(warden: Warden): Promise<void> {
  if (warden.exitCode !== null || warden.signalCode !== null) return;
  const ended = once(warden, 'exit');
  warden.stdin.end();
  await ended;
}
