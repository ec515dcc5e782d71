import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../harness/ports.ts';
import type { Teardown } from '../../harness/processes.ts';

/** A way to a network that counts what goes there. */
export interface CountingProxy {
  readonly url: string;
  traffic(): { readonly connections: number; readonly bytes: number };
}

/** Listens on a free port and passes everything on to `port`, both ways, until the test ends. */
export async function countingProxy(t: Teardown, port: number): Promise<CountingProxy> {
  let connections = 0;
  let bytes = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    connections += 1;
    const far = connect({ host: '127.0.0.1', port, noDelay: true });
    near.setNoDelay(true);
    near.on('data', (chunk) => {
      bytes += chunk.length;
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  const own = await freePort();
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  return { url: `tcp://127.0.0.1:${own}`, traffic: () => ({ connections, bytes }) };
}
