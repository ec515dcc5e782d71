import Fastify from 'fastify';
import t from 'tap';
import { loadConfig } from '../../../config/load.ts';
import { provide } from '../../../core/container.ts';
import { createGateway, gatewayPlugin } from '../../../core/kernel.ts';
import { createLog } from '../../../core/log.ts';
import observability from '../../../plugins/observability/plugin.ts';
import { freePort } from '../../harness/ports.ts';

/** Whether the things that readiness asks for are there. */
const state = { database: true, database_write: true, broker: true };

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
  const batches = metrics.histogram(
    { name: 'test_batch_inputs', help: 'h', labels: ['lane'] },
    [1, 10],
  );
  batches.observe({ lane: 'l' }, 4);
  metrics.counter({ name: 'test_total', help: 'h', labels: [] }).add({}, 2);
  let value = 1;
  metrics.gauge({ name: 'test_gauge', help: 'h' }, () => value++);
  t.throws(() => metrics.gauge({ name: 'test_gauge', help: 'h' }, () => 0), /already/);
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

  await get('/things/1');
  await get('/things/2');
  await get('/nowhere/17');
  const { body, headers } = await get('/metrics');
  t.match(headers['content-type'], /^text\/plain; version=0\.0\.4/);
  t.match(body, 'gateway_http_requests_total{operation="/things/:id",status="201"} 2');
  t.match(body, 'gateway_http_requests_total{operation="not_found",status="404"} 1');
  t.match(body, 'gateway_http_requests_total{operation="/readyz",status="503"} 3');
  t.match(body, 'gateway_http_request_duration_seconds_count{operation="/things/:id"} 2');
  t.match(body, 'test_batch_inputs_bucket{le="10",lane="l"} 1');
  t.match(body, 'test_total 2');
  t.match(body, 'test_gauge 1');
  t.match((await get('/metrics')).body, 'test_gauge 2');
  t.match(body, 'process_resident_memory_bytes');
  t.notMatch(body, 'nowhere');
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
