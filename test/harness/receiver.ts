import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { deliveryComplaints } from './documented-deliveries.ts';
import { freePort } from './ports.ts';
import type { Teardown } from './processes.ts';

/** One delivery as it arrived, byte for byte. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawBody: Buffer;
  /** Milliseconds since the Unix epoch. */
  readonly at: number;
}

/** What a receiver does with a delivery: a status to answer, or something of its own with the response. */
export type Reaction =
  | number
  | ((response: ServerResponse, received: Received) => void | Promise<void>);

/** A receiver of webhooks on loopback, written from the specification alone. */
export interface Receiver {
  /** The address of a path of it. */
  url(path?: string): string;
  /** All that arrived so far, in order. */
  readonly received: readonly Received[];
  /** What arrived at a path. */
  at(path: string): readonly Received[];
  /** How many connections were ever made to it. */
  connections(): number;
  /** Breaks all connections and listens no more. */
  stop(): Promise<void>;
  /** Listens again on the same port. */
  start(): Promise<void>;
}

/** Starts a receiver; `react` decides for each delivery, 204 when absent. It ends with the test. */
export async function startReceiver(
  t: Teardown,
  react: (received: Received) => Reaction = () => 204,
): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  /** What is wrong with what arrived: the test fails by it when it ends. */
  const wrong: string[] = [];
  let connections = 0;
  // Not one that a connection could have while the receiver listens no more.
  const port = await freePort();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      return; // the sender went away in the middle
    }
    const one: Received = {
      path: request.url ?? '/',
      headers: request.headers,
      rawBody: Buffer.concat(chunks),
      at: Date.now(),
    };
    received.push(one);
    wrong.push(...deliveryComplaints(one));
    const reaction = react(one);
    if (typeof reaction === 'number') response.writeHead(reaction).end();
    else await reaction(response, one);
  });
  server.keepAliveTimeout = 30_000;
  server.on('connection', (socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const start = () =>
    new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => resolve());
    });
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await start();
  t.teardown(async () => {
    await stop();
    if (wrong.length > 0) throw new Error(`undocumented deliveries: ${wrong.join('; ')}`);
  });
  return {
    url: (path = '/') => `http://127.0.0.1:${port}${path}`,
    received,
    at: (path) => received.filter((one) => one.path === path),
    connections: () => connections,
    start,
    stop,
  };
}

/** A header that a delivery carries once; empty when it does not. */
export function header({ headers }: Received, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** The payload of a delivery, as far as tests look into it. */
export interface Payload {
  readonly event: string;
  readonly created_at: string;
  readonly account_id: string | null;
  readonly channel: string | null;
  readonly message?: { readonly id: string; readonly text: string; readonly status: string };
  readonly contact?: { readonly id: string; readonly phone: string; readonly name: string };
  readonly account?: { readonly status: string; readonly reason: string | null };
}

/** Reads the payload of a delivery. */
export function payloadOf({ rawBody }: Received): Payload {
  return JSON.parse(rawBody.toString('utf8')) as Payload;
}

/**
 * What a receiver that follows the specification (Events: Signature) makes of a delivery: `genuine`, `unsigned`,
 * `stale` (its timestamp is more than five minutes away), or `forged`.
 */
export function judge(
  received: Received,
  secret: string,
  nowS = Date.now() / 1_000,
): 'genuine' | 'unsigned' | 'stale' | 'forged' {
  const timestamp = header(received, 'x-webhook-timestamp');
  const signature = header(received, 'x-webhook-signature');
  if (timestamp === '' && signature === '') return 'unsigned';
  if (!/^\d+$/.test(timestamp) || Math.abs(nowS - Number(timestamp)) > 300) return 'stale';
  const expected = createHmac('sha256', secret)
    .update(Buffer.concat([Buffer.from(`${timestamp}.`), received.rawBody]))
    .digest('hex');
  return signature === `v1=${expected}` ? 'genuine' : 'forged';
}
