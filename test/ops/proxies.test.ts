import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { Agent, fetch } from 'undici';
import { toolCall } from '../harness/agent.ts';
import { makeCertificates } from '../harness/certificates.ts';
import { client } from '../harness/client.ts';
import { engines } from '../harness/databases.ts';
import { generousLimits } from '../harness/gateway.ts';
import { freePort } from '../harness/ports.ts';
import { type ProjectProcess, startProcess } from '../harness/processes.ts';
import { pair, until } from '../harness/story.ts';
import { serverUrl } from '../servers/borrow.ts';
import { startCaddy, startNginx } from '../servers/proxies.ts';
import { makeFolder } from '../servers/server.ts';

const shipped = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../ops', name), 'utf8');

const key = `gw_test_${randomBytes(32).toString('base64url')}`;
const database = await engines.mariadb.create(t);
const metricsPort = await freePort();
const gateways = [
  { host: '127.0.0.1', port: await freePort() },
  { host: '127.0.0.2', port: await freePort() },
] as const;
const env = {
  ...generousLimits,
  DATABASE_URL: database.url,
  AMQP_URL: await serverUrl('rabbitmq'),
  GATEWAY_SECRET: randomBytes(32).toString('base64'),
  TEST_API_KEY: key,
  METRICS_PORT: String(metricsPort),
  // Of the simulated network, which both share.
  DATA_DIR: await makeFolder('proxied'),
  // Still longer than Caddy needs to see it.
  GATEWAY_SHUTDOWN__DRAIN_S: '6',
  LOG_LEVEL: 'warn',
};

async function start({ host, port }: (typeof gateways)[number]): Promise<ProjectProcess> {
  const started = startProcess(t, ['main.ts', 'serve'], {
    ...env,
    HOST: host,
    PORT: String(port),
  });
  await started.waitForOk(`http://${host}:${metricsPort}/servingz`);
  return started;
}

const { authority, certificate, key: certificateKey } = await makeCertificates(t);
const [first] = await Promise.all([start(gateways[0]), start(gateways[1])]);
const ports = { nginx: await freePort(), caddy: await freePort() };
/** The text with the gateways of this test in it. */
const before = (text: string): string =>
  gateways.reduce(
    (all, { host, port }, n) => all.replace(`10.0.0.${n + 1}:3000`, `${host}:${port}`),
    text,
  );
const [nginx, caddy] = await Promise.all([
  startNginx(
    before(shipped('nginx.conf'))
      .replace('listen 443', `listen 127.0.0.1:${ports.nginx}`)
      .replace('/etc/ssl/gateway.example.com/fullchain.pem', certificate)
      .replace('/etc/ssl/gateway.example.com/privkey.pem', certificateKey),
    ports.nginx,
  ),
  startCaddy(
    before(shipped('Caddyfile'))
      .replace(
        'gateway.example.com {',
        `https://localhost:${ports.caddy} {\n\ttls ${certificate} ${certificateKey}`,
      )
      .replace('health_port 9090', `health_port ${metricsPort}`),
    ports.caddy,
  ),
]);
t.teardown(() => Promise.all([nginx.remove(), caddy.remove()]));
const dispatcher = new Agent({ connect: { ca: readFileSync(authority) } });
t.teardown(() => dispatcher.close());

const { host, port } = gateways[0];
const account = await pair(client(`http://${host}:${port}/v1`, key), '+14155550101');

/** Asks through a proxy; answers the status, or what broke. */
async function ask(url: string, body?: string): Promise<number | string> {
  const headers = {
    'x-api-key': key,
    accept: 'application/json, text/event-stream',
    ...(body === undefined
      ? {}
      : { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
  };
  try {
    const method = body === undefined ? 'GET' : 'POST';
    const answer = await fetch(url, { method, headers, dispatcher, ...(body && { body }) });
    await answer.text();
    return answer.status;
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error);
  }
}

/** Every kind of request, again and again until it is stopped; answers the outcomes of each, with their counts. */
function keepAsking(origin: string) {
  let stopped = false;
  const outcomes = new Map<string, number>();
  const send = JSON.stringify({ account_id: account, to: { phone: '+14155550102' }, text: 'x' });
  const kinds: Readonly<Record<string, () => Promise<number | string>>> = {
    list: () => ask(`${origin}/v1/accounts`),
    send: () => ask(`${origin}/v1/messages`, send),
    tool: () => ask(`${origin}/mcp`, toolCall('list_accounts')),
    wait: () => ask(`${origin}/v1/messages/wait?timeout_s=1`),
  };
  const asking = Object.entries(kinds).map(async ([kind, once]) => {
    while (!stopped) {
      const outcome = `${kind} ${await once()}`;
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    }
  });
  return async () => {
    stopped = true;
    await Promise.all(asking);
    return outcomes;
  };
}

t.test('both proxies serve, and lose no request while a gateway is replaced', async (t) => {
  const origins = [nginx.url, caddy.url];
  for (const origin of origins) {
    await until('the proxy to serve', async () =>
      (await ask(`${origin}/v1/accounts`)) === 200 ? true : undefined,
    );
    t.equal(await ask(`${origin}/readyz`), 404);
    t.equal(await ask(`${origin}/servingz`), 404);
    t.equal(await ask(`${origin}/%6detrics`), 404);
  }
  const asking = origins.map(keepAsking);
  t.equal((await first.kill('SIGTERM')).code, 0);
  await start(gateways[0]);
  for (const stop of asking) {
    const outcomes = await stop();
    const kinds = ['list 200', 'send 202', 'tool 200', 'wait 200'];
    t.same([...outcomes.keys()].sort(), kinds, JSON.stringify([...outcomes]));
  }
});

t.test('a long poll is never cut by a time-out of a proxy', async (t) => {
  const [, nginxS] = /proxy_read_timeout (\d+)s/.exec(shipped('nginx.conf')) ?? [];
  const [, caddyS] = /response_header_timeout (\d+)s/.exec(shipped('Caddyfile')) ?? [];
  for (const seconds of [nginxS, caddyS]) t.ok(Number(seconds) >= 55 + 15);
});
