import { resolve } from 'node:path';
import t from 'tap';
import { gatewayAddresses } from '../../config/addresses.ts';
import { banner } from '../../config/commands/banner.ts';
import { isForPerson } from '../../config/commands/log-stream.ts';
import { eachField, variableOf } from '../../config/fields.ts';
import { loadConfig } from '../../config/load.ts';
import { configReference } from '../../config/reference.ts';
import { configSummary, withoutPassword } from '../../config/summary.ts';

const fromEnv = (env: Record<string, string>) => loadConfig({ env, file: null });

t.test('the summary shows what differs from the defaults, but no secret', async (t) => {
  const secret = 'S'.repeat(43);
  const config = fromEnv({
    GATEWAY_SECRET: secret,
    GATEWAY_SECRET_PREVIOUS: secret,
    TEST_API_KEY: `gw_test_${secret}`,
    LIVE_API_KEY: `gw_live_${secret}`,
    DATABASE_URL: `mysql://user:${secret}@host:3306/name?connectAttributes=${secret}`,
    AMQP_URL: `amqp://user:${secret}@host`,
    SIMULATED_NETWORK_URL: `tcp://:${secret}@host:3025`,
    CHATAPP_API_HASH: secret,
    MSGAPP_WEB_SOCKET_URL: `wss://user:${secret}@host/ws`,
    GATEWAY_MEDIA__S3__ENDPOINT: `https://user:${secret}@host`,
    GATEWAY_CHANNELS__OTHER: `{"driver": "d", "options": {"token": "${secret}"}}`,
    GATEWAY_LIMITS__WAITS: '3',
  });
  const summary = configSummary(config);
  t.notMatch(JSON.stringify(summary), secret);
  t.match(summary, {
    gateway_secret: '***',
    live_api_key: '***',
    database_url: 'mysql://user:***@host:3306/name?***',
    amqp_url: 'amqp://user:***@host',
    simulated_network_url: 'tcp://:***@host:3025',
  });
  t.same(summary.limits, { waits: 3 });
  t.same(summary.channels, {
    other: { driver: 'd', options: '***', isolate: false, memory_mb: 256 },
  });
  const msgapp_web = { websocket_url: 'wss://user:***@host/ws' };
  t.same(summary.drivers, { msgapp_web, chatapp: { api_hash: '***' } });
  t.same(summary.media, { s3: { endpoint: 'https://user:***@host' } });
  t.equal(config.test_api_key, `gw_test_${secret}`, 'the configuration itself is whole');
});

t.test('the summary says nothing of defaults, nor of what follows from a setting', async (t) => {
  t.same(configSummary(fromEnv({})), {});
  t.same(configSummary(fromEnv({ DATA_DIR: '/srv/gateway' })), { data_dir: '/srv/gateway' });
});

t.test('addresses lose their password, and are else as they are', async (t) => {
  for (const address of ['sqlite:./a/b.db', 'mysql://user@host/name', 'amqp://host']) {
    t.equal(withoutPassword(address), address);
  }
  t.equal(withoutPassword('amqp://user:p@ss/word@host'), 'amqp://user:***@host');
});

t.test('every field is described, and its variable sets it', async (t) => {
  const variables = new Set<string>();
  eachField((path, schema) => {
    t.ok(schema.description, path.join('.'));
    const variable = variableOf(path, schema);
    t.notOk(variables.has(variable), `${variable} is one field's`);
    variables.add(variable);
    t.match(configReference(), `| \`${path.join('.')}\` | \`${variable}\` |`);
  });
  t.ok(variables.size > 50);
});

t.test('the addresses that are given out', async (t) => {
  t.same(gatewayAddresses(fromEnv({ PORT: '0' }), 4711), {
    baseUrl: 'http://127.0.0.1:4711/v1',
    mcpUrl: 'http://127.0.0.1:4711/mcp',
    docsUrl: 'http://127.0.0.1:4711/v1/docs',
    consoleUrl: 'http://127.0.0.1:4711/console',
  });
  t.equal(gatewayAddresses(fromEnv({ HOST: '::1' }), 1).baseUrl, 'http://[::1]:1/v1');
  const behind = fromEnv({ PUBLIC_URL: 'https://gateway.example/chat/' });
  t.equal(gatewayAddresses(behind, 1).mcpUrl, 'https://gateway.example/chat/mcp');
  const addresses = gatewayAddresses(behind, 1);
  const facts = { addresses, dataDir: './data', keys: { live: null, test: null } };
  const later = banner(facts);
  t.match(
    later,
    `Docs URL:     ${addresses.docsUrl}\n  Console URL:  ${addresses.consoleUrl}\n  Data folder:  ${resolve('data')}\n`,
  );
  t.match(later, /keys create --tenant/);
  t.notMatch(later, /only this once/);
  t.equal(banner({ ...facts, addresses: null }), '', 'a start that fails and made no keys');
  const first = banner({ ...facts, keys: { live: 'gw_live_a', test: 'gw_test_b' } });
  t.match(first, /gw_live_a\n.*gw_test_b\n\nThe keys are shown only this once/);
});

t.test('the log is for a person on a terminal, unless it is set', async (t) => {
  t.same([isForPerson('auto', true), isForPerson('auto', false)], [true, false]);
  t.same([isForPerson('json', true), isForPerson('pretty', false)], [false, true]);
});
