import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import t, { type Test } from 'tap';
import { administer } from '../../config/commands/administer.ts';
import type { AdministrationCommand } from '../../config/commands/command.ts';
import { parseCommand } from '../../config/commands/parse.ts';
import { storyDatabases } from '../harness/databases.ts';
import { freePort } from '../harness/ports.ts';
import {
  compiled,
  type Exit,
  startGateway,
  startProcess,
  startProgram,
  type Teardown,
} from '../harness/processes.ts';
import { until } from '../harness/story.ts';

const project = join(import.meta.dirname, '../..');

interface Run extends Exit {
  readonly output: string;
  readonly json: Record<string, unknown>;
}

/** Runs a command to its end. */
async function run(t: Teardown, env: Record<string, string>, line: string): Promise<Run> {
  const started = startProcess(t, ['main.ts', ...line.split(' ')], env);
  const exit = await started.exit;
  await sleep(20); // its last words may still be on their way
  const { output } = started;
  const json = output.startsWith('{') ? JSON.parse(output) : {};
  return { ...exit, output, json };
}

async function folder(t: Teardown): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'gateway-'));
  t.teardown(() => rm(path, { recursive: true, force: true }));
  return path;
}

/** The commands that read, which spare the start of a process each, and those that are refused. */
async function furtherCommands(
  t: Test,
  env: Record<string, string>,
  tenantId: string,
  revokedId: string,
): Promise<void> {
  const inProcess = (line: string) =>
    administer(parseCommand(line.split(' ')) as AdministrationCommand, env);
  const [listed, keys, migrated, unknown, refused] = await Promise.all([
    inProcess('tenants list'),
    inProcess(`keys list --tenant ${tenantId}`),
    inProcess('migrate'),
    run(t, env, 'keys list --tenant ten_none'),
    run(t, env, `tenants update ${tenantId} --disable cook`),
  ]);
  const { tenants } = listed.json as {
    readonly tenants: readonly { readonly features: readonly string[] }[];
  };
  t.match(tenants, [{ mode: 'live' }, { mode: 'test' }, { name: 'Acme', plan: 'scale' }]);
  t.same(
    tenants.map(({ features }) => features.includes('api')),
    [true, true, false],
  );
  t.match(keys.json, { keys: [{ revoked_at: null }, { id: revokedId, hint: /^gw_test_…/ }] });
  t.match(listed.text, /^ID +MODE +PLAN/);
  t.match(migrated.json, { migrated: true });
  t.match(unknown, { code: 1, output: 'There is no tenant "ten_none".\n' });
  t.match(refused, { code: 2, output: /^There is no feature "cook"; there are api, / });
}

const secret = Buffer.alloc(32, 7).toString('base64');

for (const { name, create } of storyDatabases('sqlite')) {
  t.test(`beside a running gateway on ${name}`, async (t) => {
    const database = await create(t);
    const env = {
      DATABASE_URL: database.url,
      DATA_DIR: await folder(t),
      GATEWAY_SECRET: secret,
      LOG_LEVEL: 'warn',
    };
    const { process: gateway, url } = await startGateway(t, env);
    const [, live = ''] = await gateway.waitFor(/Live API key: +(gw_live_\S+)\n[\s\S]*shown only/);
    t.match(live, /^gw_live_/);
    t.match(gateway.output, new RegExp(`Base URL: +${url}/v1\n +MCP URL: +${url}/mcp\n`));
    t.match(gateway.output, `${url}/v1/docs\n`);
    t.match(gateway.output, /Test API key: +gw_test_[\w-]{43}\n/);
    const status = async (key: string, path = '/v1/accounts') => {
      const answer = await fetch(url + path, { headers: { 'x-api-key': key } });
      await answer.arrayBuffer();
      return answer.status;
    };
    t.not(await status(live), 401);
    t.equal(await status('gw_live_wrong'), 401);

    const created = await run(t, env, 'tenants create --name Acme --mode test --plan free --json');
    t.equal(created.code, 0, created.output);
    const { tenant, key } = created.json as { tenant: { id: string }; key: string };
    t.same(tenant, {
      id: tenant.id,
      name: 'Acme',
      mode: 'test',
      plan: 'free',
      status: 'active',
      features: [
        'api',
        'webhooks',
        'msgapp_web',
        'chatapp',
        ...['received', 'sent', 'delivered', 'read', 'failed'].map((one) => `event:message.${one}`),
        'event:account.connected',
        'event:account.disconnected',
        'event:account.restricted',
        'event:account.limit_reached',
      ],
    });
    t.not(await status(key), 401, 'a new key is good at once');

    // A process takes half a second of a processor, so what does not depend on the engine is done on one.
    if (name === 'sqlite') {
      const change = `tenants update ${tenant.id} --plan scale --disable api --disable chatapp --json`;
      t.match((await run(t, env, change)).json, { tenant: { plan: 'scale', status: 'active' } });
    }
    const second = (await run(t, env, `keys create --tenant ${tenant.id} --json`)).json;
    t.match(second, { key: /^gw_test_/, key_id: /^key_/, tenant_id: tenant.id });
    t.not(await status(String(second.key)), 401);
    const revoked = (await run(t, env, `keys revoke ${second.key_id} --json`)).json;
    t.match(revoked, { key_id: second.key_id, revoked_at: /^\d{4}-.*Z$/ });
    await sleep(2_000);
    t.equal(await status(String(second.key)), 401, 'a revoked key is refused within 2 s');
    t.not(await status(key), 401);
    if (name === 'sqlite') await furtherCommands(t, env, tenant.id, String(second.key_id));
    t.same(await gateway.kill('SIGTERM'), { code: 0, signal: null });

    if (name !== 'sqlite') return;
    const asPerson = { LOG_FORMAT: 'pretty', LOG_LEVEL: 'info' };
    const again = await startGateway(t, { ...env, ...asPerson, PORT: new URL(url).port });
    t.not(await status(live), 401, 'the first key is good after a restart');
    await again.process.waitFor(/ INFO: the gateway is listening\n/);
    t.notMatch(again.process.output, /gw_/, 'and is not shown again');
    const shown = again.process.output;
    t.match(
      shown,
      `Docs URL:     ${url}/v1/docs\n  Console URL:  ${url}/console\n  Data folder:  ${env.DATA_DIR}\n`,
    );
    t.match(shown, /Further keys: .*\n +npm run gateway -- keys create --tenant/);
    t.notMatch(shown, /^\{/m, 'a person reads no JSON');
    t.match(shown, /^\[\d\d:\d\d:\d\d\] INFO: the gateway starts \{"config":\{[^\n]*\}\}$/m);
    t.same(await again.process.kill('SIGINT'), { code: 0, signal: null });
  });
}

t.test('a start that cannot be says why in a sentence', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(async () => void taken.close());
  const { port } = taken.address() as { port: number };
  const cases: readonly [Record<string, string>, RegExp][] = [
    [{ GATEWAY_LIMITS__WATS: '1' }, /^GATEWAY_LIMITS__WATS: there is no field [^\n]*\.\n$/],
    [
      { AMQP_URL: 'amqp://user:hidden#hidden@host', LOG_LEVEL: 'trace' },
      /^amqp_url \(AMQP_URL\) is not an address: [^\n]*\.\n$/,
    ],
    [
      { DATABASE_URL: 'mysql://user:12/hidden@host/gateway' },
      /^database_url \(DATABASE_URL\) is not an address: [^\n]*\.\n$/,
    ],
    [{ PORT: String(port) }, new RegExp(`port ${port} is taken by another program\\.`)],
    [{ METRICS_PORT: String(port) }, new RegExp(`port ${port} is taken by another program\\.`)],
  ];
  const base = { PORT: String(await freePort()), LOG_LEVEL: 'silent' };
  const runs = await Promise.all(
    cases.map(async ([env]) => run(t, { ...base, DATA_DIR: await folder(t), ...env }, 'serve')),
  );
  for (const [index, { code, output }] of runs.entries()) {
    t.equal(code, 1, output);
    t.match(output, cases[index]?.[1]);
    t.notMatch(output, /\n\s+at /, 'no stack trace');
    t.notMatch(output, /hidden/, 'no secret');
  }
});

t.test('a signal ends a start that waits for its database', async (t) => {
  const database = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(database, 'listening');
  t.teardown(async () => void database.close());
  const { port } = database.address() as { port: number };
  const env = {
    DATABASE_URL: `mysql://user@127.0.0.1:${port}/gateway`,
    GATEWAY_SECRET: randomBytes(32).toString('base64'),
    LOG_LEVEL: 'info',
  };
  const gateway = startProcess(t, ['main.ts', 'serve'], { ...env, DATA_DIR: await folder(t) });
  await once(database, 'connection');
  t.same(await gateway.kill('SIGTERM'), { code: 0, signal: null });
  t.match(gateway.output, /the gateway ends before it has started/);
});

t.test('what is not understood', async (t) => {
  t.match(await run(t, {}, 'cook'), { code: 2, output: /^There is no command "cook"/ });
});

t.test('the version', async (t) => {
  const { version } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
  t.match(await run(t, {}, '--version'), { code: 0, output: `${version}\n` });
});

t.test('an answer that a full disk does not take fails the command', async (t) => {
  const args = compiled(['main.ts', 'version']);
  const program = ['env', '-u', 'NODE_OPTIONS', process.execPath, ...args];
  const started = startProgram(t, ['sh', '-c', 'exec "$@" >/dev/full', 'sh', ...program]);
  t.match(await started.exit, { code: 1 });
  await started.waitFor(/^The command failed: .* could not be written \(ENOSPC\)\.\n$/);
});

t.test('a Node.js that is too old is told so in a sentence', async (t) => {
  const { engines } = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
  const least = engines.node.replace('>=', '');
  const launch = async (version: string) => {
    const pretend = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });
      process.argv.push('--version'); process.argv.splice(1, 0, 'launch.mjs', 'main.ts');
      await import('${pathToFileURL(join(project, 'config/launch.mjs'))}');`;
    const flags = ['--input-type=module', '--eval', pretend];
    const started = startProgram(t, ['env', '-u', 'NODE_OPTIONS', process.execPath, ...flags]);
    const { code } = await started.exit;
    await sleep(20);
    return { code, output: started.output };
  };
  for (const version of ['18.20.8', '20.18.3']) {
    const output = `Node.js ${least} or newer is needed, this is ${version}.\n`;
    t.same(await launch(version), { code: 1, output });
  }
  for (const version of ['20.19.0', '24.1.0', '100.0.0'])
    t.match(await launch(version), { code: 0 });
});

t.test('PORT=0, and keys that were set are shown nowhere', async (t) => {
  const preset = `gw_test_${randomBytes(32).toString('base64url')}`;
  const env = { DATA_DIR: await folder(t), PORT: '0', TEST_API_KEY: preset };
  const gateway = startProcess(t, ['main.ts', 'serve'], { ...env, LOG_LEVEL: 'info' });
  const [, base = ''] = await gateway.waitFor(/Base URL: +(http:\S+)\/v1\n/);
  await gateway.waitFor(/Live API key: +gw_live_[\w-]{43}\n/);
  await gateway.waitForOk(`${base}/readyz`);
  t.notMatch(gateway.output, preset, 'only what was generated is printed');
  const answer = await fetch(`${base}/v1/accounts`, { headers: { 'x-api-key': preset } });
  t.equal(answer.status, 200, 'and the preset key is good');
  const [start = ''] = gateway.output.split('\n');
  t.match(JSON.parse(start), { msg: 'the gateway starts', config: { test_api_key: '***' } });
  t.same(await gateway.kill('SIGTERM'), { code: 0, signal: null });
});

t.test('a balancer sees that a stopping gateway is not ready while it still serves', async (t) => {
  const key = `gw_test_${randomBytes(32).toString('base64url')}`;
  const env = { DATA_DIR: await folder(t), LOG_LEVEL: 'warn', TEST_API_KEY: key };
  const { process: gateway, url } = await startGateway(t, {
    ...env,
    GATEWAY_SHUTDOWN__DRAIN_S: '6',
  });
  const begun = performance.now();
  const exit = gateway.kill('SIGTERM');
  await until('the stop to be seen', async () =>
    (await fetch(`${url}/readyz`)).status === 503 ? true : undefined,
  );
  while (performance.now() - begun < 3_000) {
    const ready = await fetch(`${url}/readyz`);
    t.match(await ready.json(), { checks: { process: 'unavailable' } });
    t.equal(ready.status, 503);
    const served = await fetch(`${url}/v1/accounts`, { headers: { 'x-api-key': key } });
    t.match(await served.json(), { accounts: [] }, 'requests are served');
    await sleep(200);
  }
  t.same(await exit, { code: 0, signal: null });
  t.ok(performance.now() - begun > 6_000);
});
