import { setTimeout as sleep } from 'node:timers/promises';
import Fastify from 'fastify';
import t from 'tap';
import { loadConfig } from '../../../config/load.ts';
import { provide } from '../../../core/container.ts';
import { createGateway, gatewayPlugin } from '../../../core/kernel.ts';
import { createLog } from '../../../core/log.ts';
import { DatabaseGauges } from '../../../plugins/observability/database-gauges.ts';
import observability from '../../../plugins/observability/plugin.ts';
import { freePort } from '../../harness/ports.ts';

/** Whether the things that readiness asks for are there. */
const state = { database: true, database_write: true, broker: true };

/** How a gauge was read from the database. */
const reads = { all: 0, atOnce: 0, fail: false };

const stand = gatewayPlugin('stand-in', ['observability'], async (app) => {
  const { metrics } = app.container.cradle;
  // Readiness asks these two for nothing else.
  provide(app.container, 'storage', {
    ping: async () => {
      if (!state.database) throw new Error('away');
    },
    probe: async () => {
      if (!state.database_write) throw new Error('read-only');
    },
  } as never);
  provide(app.container, 'broker', { ready: () => state.broker } as never);
  const sizes = metrics.histogram('gateway_lane_batch_inputs');
  sizes.observe({ lane: 'l' }, 4);
  const answered = metrics.counter('gateway_waits_handed_over_total');
  answered.add({}, 2);
  t.throws(() => metrics.counter('gateway_waits_handed_over_total'), /already/);
  let value = 1;
  metrics.gauge('gateway_sessions_held', () => [{ labels: {}, value: value++ }]);
  metrics.gauge('gateway_long_polls_open', () => [{ labels: { kind: 'events' }, value: 3 }]);
  metrics.gauge('gateway_long_polls_open', () => [{ labels: { kind: 'messages' }, value: 4 }]);
  metrics.gauge('gateway_sessions_capacity', () => []);
  metrics.installation(['gateway_webhook_receivers'], async () => {
    reads.all += 1;
    reads.atOnce += 1;
    t.equal(reads.atOnce, 1, 'one read at a time');
    await sleep(20);
    reads.atOnce -= 1;
    if (reads.fail) throw new Error('away');
    const labels = { state: 'failing' } as const;
    return { gateway_webhook_receivers: [{ labels, value: reads.all }] };
  });
  app.get('/things/:id', async (_, reply) => reply.code(201).send({}));
});

function boot(env: Record<string, string>) {
  return createGateway({
    log: createLog('silent'),
    bodyLimit: 1024,
    prepare: (container) => provide(container, 'config', loadConfig({ env, file: null })),
    plugins: [observability, stand],
  });
}

t.test('the three probes', async (t) => {
  const { app, close } = await boot({});
  t.teardown(close);
  const get = async (url: string) => {
    const { statusCode, headers, body } = await app.inject(url);
    return { statusCode, headers, body };
  };
  t.match(await get('/healthz'), { statusCode: 200, body: '{"status":"ok"}' });
  const ready = await get('/readyz');
  t.equal(ready.statusCode, 200);
  t.same(JSON.parse(ready.body), {
    status: 'ok',
    checks: { database: 'ok', database_write: 'ok', broker: 'ok', process: 'ok' },
  });
  for (const part of ['database', 'database_write', 'broker'] as const) {
    state[part] = false;
    const away = await get('/readyz');
    t.match(away, { statusCode: 503, headers: { 'retry-after': '1' } });
    t.match(JSON.parse(away.body), { status: 'unavailable', checks: { [part]: 'unavailable' } });
    t.equal((await get('/healthz')).statusCode, 200, 'the process is up all the same');
    state[part] = true;
  }

  for (const url of ['/healthz', '/readyz', '/servingz']) {
    const { statusCode, headers } = await get(url);
    const head = await app.inject({ method: 'HEAD', url });
    t.match(head, { statusCode, body: '' }, url);
    t.equal(head.headers['content-length'], headers['content-length']);
  }

  await get('/things/1');
  await get('/things/2');
  await get('/nowhere/17');
  const { body, headers } = await get('/metrics');
  t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/);
  t.match(body, 'gateway_http_requests_total{operation="/things/:id",status="201"} 2');
  t.match(body, 'gateway_http_requests_total{operation="not_found",status="404"} 1');
  t.match(body, 'gateway_http_requests_total{operation="/readyz",status="503"} 3');
  t.match(body, 'gateway_http_request_duration_seconds_count{operation="/things/:id"} 2');
  t.match(body, 'gateway_lane_batch_inputs_bucket{le="4",lane="l"} 1');
  t.match(body, 'gateway_waits_handed_over_total 2');
  t.match(body, 'gateway_sessions_held 1');
  t.match((await get('/metrics')).body, 'gateway_sessions_held 2');
  t.match(body, 'gateway_long_polls_open{kind="events"} 3');
  t.match(body, 'gateway_long_polls_open{kind="messages"} 4');
  t.notMatch(body, /^gateway_sessions_capacity /m, 'nothing is shown of what is not there');
  t.match(body, 'process_resident_memory_bytes');
  t.notMatch(body, 'nowhere');
});

t.test('the database is read once for all scrapes of some seconds', async (t) => {
  const { app, close } = await boot({});
  t.teardown(close);
  Object.assign(reads, { all: 0, fail: false });
  const scrape = async () => (await app.inject('/metrics')).body;
  const bodies = await Promise.all([scrape(), scrape(), scrape()]);
  for (const body of [...bodies, await scrape()]) {
    t.match(body, 'gateway_webhook_receivers{state="failing"} 1\n');
  }
  t.equal(reads.all, 1);
});

t.test('what the database does not answer is absent', async (t) => {
  const { app, close } = await boot({});
  t.teardown(close);
  reads.fail = true;
  const answer = await app.inject('/metrics');
  t.equal(answer.statusCode, 200);
  t.notMatch(answer.body, /^gateway_webhook_receivers\{/m);
});

t.test('a slow answer is kept for long, a slow failure is not', async (t) => {
  let now = 0;
  t.intercept(performance, 'now', { value: () => now });
  let isAway = true;
  const gauges = new DatabaseGauges(() => undefined);
  const latest = gauges.add(async () => {
    now += 8_000;
    if (isAway) throw new Error('away');
    return now;
  });
  await gauges.refresh();
  t.equal(latest(), null);
  isAway = false;
  now = 13_000;
  await gauges.refresh();
  t.equal(latest(), 21_000, 'read again after five seconds');
  now = 180_000;
  await gauges.refresh();
  t.equal(latest(), 21_000, 'good for twenty times as long as it took');
});

t.test('two gateways in one process do not mix their numbers', async (t) => {
  const { app, close } = await boot({});
  t.teardown(close);
  t.notMatch((await app.inject('/metrics')).body, 'operation="/things/:id"');
});

t.test('METRICS_PORT moves them to a port of their own', async (t) => {
  const port = await freePort();
  const { app, close } = await boot({ METRICS_PORT: String(port) });
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    t.equal((await app.inject(path)).statusCode, 404, path);
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    await answer.text();
    t.equal(answer.status, 200, path);
  }
  await close();
  await t.rejects(fetch(`http://127.0.0.1:${port}/healthz`), 'it is closed with the gateway');
});

t.test('a port that is taken fails the boot', async (t) => {
  const other = Fastify();
  await other.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => other.close());
  const { port } = other.server.address() as { port: number };
  await t.rejects(boot({ METRICS_PORT: String(port) }), { code: 'EADDRINUSE' });
});
