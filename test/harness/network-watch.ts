import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { LineSocket } from '../../drivers/simulated/lines.ts';
import { parseNetworkUrl } from '../../drivers/simulated/network/address.ts';
import type { DriverRequest, Hello } from '../../drivers/simulated/network/protocol.ts';
import type { Teardown } from './processes.ts';

/** Something that a gateway said to the simulated network about a phone; when, on the monotonic clock. */
export interface Said {
  readonly at: number;
  readonly phone: string;
  /** `hello` opens a connection of a session, `gone` is its end, whoever ended it. */
  readonly type: 'hello' | 'gone' | DriverRequest['type'];
}

/** One gateway's way to the simulated network, which writes down what goes over it. */
export interface WatchedWay {
  /** A value for SIMULATED_NETWORK_URL. */
  readonly url: string;
  /** What was said in sessions, in order. */
  readonly said: readonly Said[];
  /** The phones whose sessions have a connection now. */
  readonly phones: () => readonly string[];
}

/** Opens a way to the network at `url`; it is closed when the test ends. */
export async function watchNetwork(t: Teardown, url: string): Promise<WatchedWay> {
  const said: Said[] = [];
  const open = new Map<Socket, string>();
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const { host, port } = parseNetworkUrl(url);
    const far = connect({ host, port });
    for (const socket of [near, far]) {
      sockets.add(socket.setNoDelay(true));
      socket.on('error', () => socket.destroy());
    }
    // Each end goes with the other, an end in the middle of something as one.
    near.on('close', () => {
      sockets.delete(near);
      const phone = open.get(near);
      if (phone !== undefined) said.push({ at: performance.now(), phone, type: 'gone' });
      open.delete(near);
      far.destroy();
    });
    far.on('close', () => {
      sockets.delete(far);
      near.destroy();
    });
    new LineSocket(near).onFrame = (frame) => {
      // Both programs are of this project and speak nothing else.
      const hello = frame as Hello;
      if (hello.type === 'hello' && hello.role === 'session') open.set(near, hello.phone);
      const phone = open.get(near);
      if (phone !== undefined)
        said.push({ at: performance.now(), phone, type: (frame as Said).type });
    };
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => near.write(bytes));
    near.on('end', () => far.end());
    far.on('end', () => near.end());
  });
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1024 });
  await once(server, 'listening');
  t.teardown(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  // A TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  const { secret } = parseNetworkUrl(url);
  const credential = secret === null ? '' : `:${secret}@`;
  return { url: `tcp://${credential}127.0.0.1:${port}`, said, phones: () => [...open.values()] };
}

/** How late an end may be noticed here that came before a beginning elsewhere, milliseconds. */
const noticeMs = 200;

/** The phones that had connections on two ways at once, with for how long. */
export function overlaps(ways: readonly WatchedWay[]): readonly string[] {
  const spans = ways.flatMap(({ said }, way) => spansOf(said).map((span) => ({ ...span, way })));
  return spans.flatMap((one) =>
    spans
      .filter((other) => other.phone === one.phone && other.way > one.way)
      .map((other) => Math.min(one.to, other.to) - Math.max(one.from, other.from))
      .filter((sharedMs) => sharedMs > noticeMs)
      .map((sharedMs) => `${one.phone}: ${Math.round(sharedMs)} ms`),
  );
}

/** When each phone had a connection on one way, where a session has one at most. */
function spansOf(said: readonly Said[]): { phone: string; from: number; to: number }[] {
  const spans: { phone: string; from: number; to: number }[] = [];
  for (const { at, phone, type } of said) {
    if (type === 'hello') spans.push({ phone, from: at, to: Number.POSITIVE_INFINITY });
    if (type !== 'gone') continue;
    const span = spans.find((one) => one.phone === phone && one.to === Number.POSITIVE_INFINITY);
    if (span !== undefined) span.to = at;
  }
  return spans;
}
