import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A way to a network that counts what goes there. */
export interface CountingProxy {
  readonly url: string;
  traffic(): { readonly connections: number; readonly bytes: number };
}

/** Whoever runs a function at the end of a test: tap's `t`. */
export interface Teardown {
  teardown(fn: () => Promise<void>): void;
}

/** Listens on a free port and passes everything on to a network on loopback, both ways, until the test ends. */
export async function countingProxy(t: Teardown, url: string): Promise<CountingProxy> {
  let connections = 0;
  let bytes = 0;
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    connections += 1;
    const far = connect({ host: '127.0.0.1', port: Number(new URL(url).port), noDelay: true });
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });
  // Listening on an address and a port, so it is one.
  const { port } = server.address() as AddressInfo;
  return { url: `tcp://127.0.0.1:${port}`, traffic: () => ({ connections, bytes }) };
}
