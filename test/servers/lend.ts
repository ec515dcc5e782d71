import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { cleanUp } from './cleanup.ts';
import { isServerName, Provider } from './provide.ts';

/**
 * Lends servers to `work`: its processes ask for them with `serverUrl`, and the first who does waits until it runs.
 * Takes them away again with every process that `work` has left, whatever becomes of this process.
 * @param file where to note what was started; its folder is the run's own, and ends with it
 */
export async function lendServers<Result>(
  file: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const warden = startWarden(file);
  process.env.TEST_SERVERS_FILE = file;
  const provider = new Provider(file);
  const lender = createServer(({ url = '' }, response) => answer(provider, url.slice(1), response));
  try {
    process.env.TEST_SERVERS_URL = await listen(lender);
    return await work();
  } finally {
    lender.close();
    lender.closeAllConnections();
    await provider.settled();
    cleanUp(file);
    await end(warden);
  }
}

function answer(provider: Provider, name: string, response: ServerResponse): void {
  if (!isServerName(name)) {
    response.writeHead(404).end(`The tests know no server "${name}".`);
    return;
  }
  provider.provide(name).then(
    (url) => response.end(url),
    (error) => response.writeHead(503).end(error instanceof Error ? error.message : String(error)),
  );
}

/** Answers where it listens. */
async function listen(server: Server): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('It has no port.');
  return `http://127.0.0.1:${address.port}`;
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
