import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Test } from 'tap';
import type { Bench } from './bench.ts';

/** Connecting through a proxy. */
export async function proxying(t: Test, bench: Bench): Promise<void> {
  const none = bench.capabilities.proxies === true ? false : 'proxies is not true';

  await bench.clause(t, 'connects through its proxy, and no other way', none, async (t) => {
    const linked = await bench.linked();
    const port = await closedPort();
    for (const protocol of ['http', 'socks5'] as const) {
      const away = await bench.reopened(linked);
      away.port.proxy = { protocol, host: '127.0.0.1', port, username: null, password: null };
      await bench.quiet();
      const { connections } = bench.world.traffic();
      await away.session.resume();
      await away.port.state('lost');
      await bench.quiet();
      t.equal(bench.world.traffic().connections, connections, `not past a proxy of ${protocol}`);
      away.session.close();
    }
    await bench.resumed(linked);
  });
}

/** A port of loopback on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
