import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { type AddressInfo, createServer, isIPv6, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import type { Teardown } from './processes.ts';

/** Below the ports that systems give to connections going out: one of those could take it before it is listened on. */
const first = 20_000;
const count = 12_000;

/**
 * Answers a TCP port on 127.0.0.1 that nobody listens on at the moment of asking. No other test of the run gets the same
 * one, also while nobody listens on it.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 1_000; tries += 1) {
    const port = first + Math.floor(Math.random() * count);
    if ((await isClaimed(port)) && (await isFree(port))) return port;
  }
  throw new Error(`No TCP port from ${first} on is free: check that 127.0.0.1 can be listened on.`);
}

/** Whether no other process of the run has been given it: from now on none will be. */
async function isClaimed(port: number): Promise<boolean> {
  const { TEST_SERVERS_FILE: file } = process.env;
  if (file === undefined) return true;
  const claims = join(dirname(file), 'ports');
  await mkdir(claims, { recursive: true });
  const claim = await open(join(claims, String(port)), 'wx').catch(() => undefined);
  await claim?.close();
  return claim !== undefined;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}

/** Has a server listen on an address of loopback until the test ends; answers its origin. */
export async function listening(
  t: Teardown,
  server: Server & { closeAllConnections?(): void },
  host = '127.0.0.1',
): Promise<string> {
  await once(server.listen(0, host), 'listening');
  t.teardown(async () => {
    server.closeAllConnections?.();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
