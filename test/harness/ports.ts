import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Server } from 'node:net';
import type { Teardown } from './processes.ts';

/** Below the ports that systems give to connections going out: one of those could take it before it is listened on. */
const first = 20_000;
const count = 12_000;

/** Those that this process has given. */
const given = new Set<number>();

/**
 * Answers a TCP port on 127.0.0.1 that nobody listens on at the moment of asking. It is drawn at random, so that test
 * processes beside each other hardly ever draw the same.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = first + Math.floor(Math.random() * count);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  throw new Error(`No TCP port from ${first} on is free: check that 127.0.0.1 can be listened on.`);
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
