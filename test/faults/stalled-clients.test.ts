import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { connected, pair, phoneNumber, until } from '../harness/story.ts';
import { besideMachine, figuresOf, isWithin } from '../harness/times.ts';

const phone = phoneNumber(1);

interface Stalled {
  readonly what: string;
  readonly socket: Socket;
  isClosed: boolean;
}

/** What a client sends before it stalls; `drips` goes on with a byte a second, `deaf` reads no answer. */
function behaviours(key: string): readonly [what: string, text: string, how?: 'drips' | 'deaf'][] {
  const head = (path: string, length: number, sent: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${sent}Content-Length: ${length}\r\n\r\n`;
  const withKey = `X-API-Key: ${key}\r\n`;
  const large = '{'.padEnd(200_000, ' ');
  const document = `GET /v1/docs/openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n`;
  const list = `GET /v1/accounts HTTP/1.1\r\nHost: x\r\n${withKey}\r\n`;
  return [
    ['says nothing', ''],
    ['stalls in its head', `POST /v1/messages HTTP/1.1\r\nHost: x\r\n${withKey}X-Half`],
    ['drips its head', `POST /v1/messages HTTP/1.1\r\nHost: x\r\nX-Half`, 'drips'],
    ['stalls in its body', `${head('/v1/messages', 100, withKey)}{`],
    ['stalls in its body without a key', `${head('/v1/messages', 100, '')}{`],
    ['stalls in a large body', `${head('/v1/messages', 250_000, withKey)}${large}`],
    ['drips its body', `${head('/v1/messages', 5_000, withKey)}{`, 'drips'],
    ['drips its body without a key', `${head('/v1/messages', 5_000, '')}{`, 'drips'],
    ['stalls in a body for agents', `${head('/mcp', 100, withKey)}{`],
    ['stalls in a body for nobody', `${head('/nowhere', 100, '')}{`],
    ['reads no answer', document.repeat(10), 'deaf'],
    ['reads no answer to its key', list.repeat(100), 'deaf'],
    ['asks once and stays', list],
  ];
}

/** Opens `count` connections that stall, of each kind as many, one half of them half-open. */
function stall({ baseUrl, key }: RunningGateway, count: number): readonly Stalled[] {
  const { hostname, port } = new URL(baseUrl);
  const kinds = behaviours(key);
  return Array.from({ length: count }, (_, n) => {
    const [what, text, how] = kinds[n % kinds.length] ?? ['', ''];
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: n % 2 === 0 });
    const stalled: Stalled = { what, socket, isClosed: false };
    const timer = how === 'drips' ? setInterval(() => socket.write('x'), 1_000) : undefined;
    const closed = (): void => {
      clearInterval(timer);
      stalled.isClosed = true;
    };
    socket.on('error', closed).on('end', closed).on('close', closed);
    socket.write(text);
    if (how === 'deaf') socket.pause();
    else socket.resume();
    return stalled;
  });
}

/** Heap and buffers in use, in megabytes. */
async function usedMegabytes({ baseUrl }: RunningGateway): Promise<number> {
  const text = await (await fetch(new URL('/metrics', baseUrl))).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]);
  return (value('nodejs_heap_size_used_bytes') + value('nodejs_external_memory_bytes')) / 1e6;
}

/** How many requests the gateway has answered, but those for its metrics. */
async function answered({ baseUrl }: RunningGateway): Promise<number> {
  const text = await (await fetch(new URL('/metrics', baseUrl))).text();
  const counts = text.matchAll(/^gateway_http_requests_total\{(.*)\} (\d+)$/gm);
  return [...counts]
    .filter(([, labels = '']) => !labels.includes('/metrics'))
    .reduce((sum, [, , count]) => sum + Number(count), 0);
}

/** Resolves once the gateway has done all that was asked of it: what goes on is the clients' stalling. */
async function settled(gateway: RunningGateway): Promise<void> {
  let [before, same] = [0, 0];
  const isIdle = async () => {
    const now = await answered(gateway);
    same = now === before ? same + 1 : 0;
    before = now;
    return same === 5 ? true : undefined;
  };
  await until('the gateway to have nothing to answer', isIdle, 120_000);
}

t.test('clients that stall are gone within 35 s, and hold up no stop', async (t) => {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    program: ['--expose-gc', 'test/harness/collecting-main.ts', 'serve'],
  });
  const rows = openRows(t, `sqlite:${join(gateway.dataDir, 'gateway.db')}`);
  await pair(gateway.api, phone);
  await connected(gateway.api, phone);
  const owners = () => rows.rows('SELECT owner FROM leases', []);
  t.match(await owners(), [{ owner: /./ }]);

  const before = await usedMegabytes(gateway);
  const first = stall(gateway, 200);
  await settled(gateway);
  const begun = performance.now();
  t.comment(`${(await usedMegabytes(gateway)) - before} MB more while they stall`);
  t.equal((await gateway.api.get('/accounts')).status, 200, 'others are served meanwhile');
  await sleep(35_000 - (performance.now() - begun));
  for (const { socket } of first) socket.resume();
  // Each reads first what it had left unread. One that were still open would be so for 20 s more.
  const stillOpen = () => first.filter(({ isClosed }) => !isClosed).map(({ what }) => what);
  const allClosed = async () => (stillOpen().length === 0 ? true : undefined);
  await until('all to be closed', allClosed, 5_000).catch(() => undefined);
  t.same(stillOpen(), [], 'every connection is closed');
  // Garbage is collected twice a second, and buffers are given back by the second collection.
  let more = Number.POSITIVE_INFINITY;
  for (let second = 0; second < 10 && more >= 30; second += 1) {
    await sleep(1_000);
    more = (await usedMegabytes(gateway)) - before;
  }
  t.ok(more < 30, `${more.toFixed(1)} MB more are used afterwards`);

  const second = stall(gateway, 200);
  await settled(gateway);
  const stopped = await besideMachine(gateway.stop);
  t.equal(stopped.value, 0, 'a clean exit');
  t.same(await owners(), [{ owner: null }], 'the lease is free');
  for (const { socket } of second) socket.destroy();
  await gateway.start();
  await connected(gateway.api, phone);
  const stopAt = performance.now();
  await gateway.stop();
  const aloneMs = performance.now() - stopAt;
  t.ok(isWithin(stopped, aloneMs + 2_000, 1), `stopped after ${figuresOf(stopped)}`);
});
