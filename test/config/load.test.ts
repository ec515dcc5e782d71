import { randomBytes } from 'node:crypto';
import t from 'tap';
import { ConfigError } from '../../config/error.ts';
import { loadConfig, refuseUnservable } from '../../config/load.ts';
import { readConfig } from '../../config/read.ts';
import { parseNetworkUrl } from '../../drivers/simulated/network/address.ts';

const fromEnv = (env: Record<string, string>) => loadConfig({ env, file: null });
const fromFile = (fields: unknown, env: Record<string, string> = {}) =>
  loadConfig({ env, file: { name: 'gateway.json', text: JSON.stringify(fields) } });

t.test('everything has a default', async (t) => {
  const config = fromEnv({ PATH: '/bin', TEST_SCALE: '1' });
  t.match(config, {
    host: '127.0.0.1',
    port: 3000,
    public_url: null,
    data_dir: './data',
    database_url: 'sqlite:data/gateway.db',
    amqp_url: null,
    roles: ['api', 'sessions', 'webhooks'],
    metrics_port: null,
    plans: {
      free: { sends_cap: 50, new_contacts_cap: 10, accounts_cap: 1, ramp_days: 0 },
      starter: { sends_cap: 500, new_contacts_cap: 100, accounts_cap: 3, ramp_days: 14 },
      growth: { sends_cap: 2000, new_contacts_cap: 400, accounts_cap: 10, ramp_days: 14 },
      scale: { sends_cap: 20000, new_contacts_cap: 4000, accounts_cap: 100, ramp_days: 14 },
    },
    limits: {
      loop_guard: { messages: 10, window_s: 60 },
      opener_burst: { openers: 5, window_s: 60 },
      safety: { refusals: 10, window_s: 600, hold_s: 3600 },
      waits: 2,
      event_polls: 5,
      requests_per_s: 100,
      wrong_keys_per_s: 10,
      body_bytes: 256 * 1024,
    },
    sessions: {
      capacity: 1000,
      lease_s: 9,
      reconnect_max_s: 300,
      pairing_timeout_s: 300,
      request_timeout_s: 10,
    },
    messages: { max_text: 4096, expire_h: 24 },
    webhooks: {
      timeout_s: 10,
      connect_timeout_s: 5,
      retry_delays_s: [60, 300, 1800, 7200],
      pause_after_failures: 20,
      pause_after_s: 600,
      max_subscriptions: 20,
      allow_private_targets: false,
      allow_http: false,
    },
    media: {
      max_bytes: 67108864,
      timeout_s: 60,
      fetches: 32,
      ahead: 4,
      address_h: 24,
      keep_h: 720,
      directory: 'data/media',
      s3: { bucket: null, region: 'us-east-1', secret_key: null, path_style: true },
    },
  });
  t.equal(fromEnv({ DATA_DIR: '/state' }).database_url, 'sqlite:/state/gateway.db');
  t.equal(fromEnv({ DATA_DIR: '/state' }).media.directory, '/state/media');
});

t.test('every way to set a field', async (t) => {
  const config = fromEnv({
    HOST: '0.0.0.0',
    PORT: '0',
    METRICS_PORT: '9100',
    ROLES: 'api, sessions',
    AMQP_URL: '',
    DATABASE_URL: 'mysql://root@localhost/gateway',
    MSGAPP_WEB_SOCKET_URL: 'ws://127.0.0.1:1',
    CHATAPP_API_ID: '17',
    GATEWAY_LIMITS__WAITS: '4',
    GATEWAY_WEBHOOKS__RETRY_DELAYS_S: '[1,2,3,4]',
    GATEWAY_WEBHOOKS__ALLOW_HTTP: 'true',
    GATEWAY_PLANS__FREE__SENDS_CAP: '100000',
    GATEWAY_PLANS__LARGE: '{"sends_cap": 7, "new_contacts_cap": 6, "accounts_cap": 5}',
    GATEWAY_PLANS__LARGE__ACCOUNTS_CAP: '55',
    GATEWAY_CHANNELS__OTHER: '{"driver": "other-driver", "options": {"token": "t"}}',
    GATEWAY_CHANNELS__OTHER__OPTIONS__SIZE: '3',
    GATEWAY_LOG_LEVEL: 'debug',
  });
  t.match(config, {
    host: '0.0.0.0',
    port: 0,
    metrics_port: 9100,
    roles: ['api', 'sessions'],
    amqp_url: null,
    log_level: 'debug',
    database_url: 'mysql://root@localhost/gateway',
  });
  t.equal(config.limits.waits, 4);
  t.equal(config.limits.requests_per_s, 100, 'what is beside it keeps its default');
  t.same(config.webhooks.retry_delays_s, [1, 2, 3, 4]);
  t.equal(config.webhooks.allow_http, true);
  t.match(config.plans.free, { sends_cap: 100_000, new_contacts_cap: 10 });
  t.same(config.plans.large, {
    sends_cap: 7,
    new_contacts_cap: 6,
    accounts_cap: 55,
    channels: true,
    webhooks: true,
    ramp_days: 14,
  });
  t.same(config.channels.other, {
    driver: 'other-driver',
    options: { token: 't', size: 3 },
    isolate: false,
    memory_mb: 256,
  });
  t.equal(config.drivers.msgapp_web.websocket_url, 'ws://127.0.0.1:1');
  t.equal(config.drivers.chatapp.api_id, 17);
});

t.test('the environment wins over the file, the file over the defaults', async (t) => {
  const file = { port: 1, limits: { waits: 5, loop_guard: { messages: 3 } }, public_url: null };
  const config = fromFile(file, { PORT: '2', GATEWAY_LIMITS__LOOP_GUARD__WINDOW_S: '0.5' });
  t.equal(config.port, 2);
  t.equal(config.limits.waits, 5);
  t.same(config.limits.loop_guard, { messages: 3, window_s: 0.5 });
  t.equal(fromFile({ webhooks: { retry_delays_s: [] } }).webhooks.retry_delays_s.length, 0);
});

t.test('a password with any characters can stand beside its address', async (t) => {
  const password = 'a@b/c#d%e:f?';
  const config = fromEnv({
    DATABASE_URL: 'mysql://gateway@database/gateway',
    DATABASE_PASSWORD: password,
    AMQP_URL: 'amqp://gateway@broker',
    AMQP_PASSWORD: password,
  });
  const encoded = encodeURIComponent(password);
  t.equal(config.database_url, `mysql://gateway:${encoded}@database/gateway`);
  t.equal(config.amqp_url, `amqp://gateway:${encoded}@broker`);
});

t.test('the log-in at a broker whose address names no user is guest', async (t) => {
  const broker = (env: Record<string, string>) => fromEnv(env).amqp_url;
  t.equal(broker({ AMQP_URL: 'amqp://broker/vhost' }), 'amqp://guest:guest@broker/vhost');
  t.equal(broker({ AMQP_URL: 'amqps://[::1]:5671' }), 'amqps://guest:guest@[::1]:5671');
  t.equal(broker({ AMQP_URL: 'amqp://gateway@broker' }), 'amqp://gateway@broker');
  const AMQP_PASSWORD = 'a word';
  t.equal(broker({ AMQP_URL: 'amqp://broker', AMQP_PASSWORD }), 'amqp://guest:a%20word@broker');
});

t.test('a stop takes longer where others take over', async (t) => {
  const servers = { DATABASE_URL: 'mysql://u@h/d', AMQP_URL: 'amqp://h' };
  t.equal(fromEnv(servers).shutdown.drain_s, 5);
  t.equal(fromEnv({ AMQP_URL: 'amqp://h' }).shutdown.drain_s, 0.5);
  t.equal(fromEnv({}).shutdown.drain_s, 0.5);
  t.equal(fromEnv({ ...servers, GATEWAY_SHUTDOWN__DRAIN_S: '30' }).shutdown.drain_s, 30);
});

const refusals: readonly [string, () => unknown, RegExp][] = [
  [
    'a number in words',
    () => fromEnv({ PORT: 'many' }),
    /^port \(PORT\) must be a whole number from 0 to 65535, not "many"\.$/,
  ],
  [
    'a number out of range',
    () => fromEnv({ METRICS_PORT: '70000' }),
    /^metrics_port \(METRICS_PORT\) must be .*65535, not 70000\.$/,
  ],
  [
    'one port for two things',
    () => fromEnv({ PORT: '9100', METRICS_PORT: '9100' }),
    /^metrics_port \(METRICS_PORT\) is 9100, the port of the API: name another one\.$/,
  ],
  [
    'a data folder of the kernel',
    () => fromEnv({ DATA_DIR: '/proc/gateway' }),
    /^data_dir \(DATA_DIR\) is below \/proc, where no folder can be made: name one on a disk\.$/,
  ],
  [
    'a database in a folder of the kernel',
    () => fromEnv({ DATABASE_URL: 'sqlite:/data/../proc/1/gateway.db' }),
    /^database_url \(DATABASE_URL\) is below \/proc/,
  ],
  [
    'a part of a number',
    () => fromEnv({ GATEWAY_LIMITS__WAITS: '1.5' }),
    /^limits\.waits \(GATEWAY_LIMITS__WAITS\) must be a whole number/,
  ],
  [
    'a truth value in other words',
    () => fromEnv({ GATEWAY_WEBHOOKS__ALLOW_HTTP: 'yes' }),
    /must be true or false, not "yes"/,
  ],
  [
    'an unknown role',
    () => fromEnv({ ROLES: 'api,cook' }),
    /^roles \(ROLES\) must be a list, each one of api, sessions, webhooks, not \["api","cook"\]\.$/,
  ],
  [
    'a level that is none',
    () => fromEnv({ LOG_LEVEL: 'loud' }),
    /one of fatal, error, warn, info, debug, trace, silent, not "loud"/,
  ],
  [
    'another database',
    () => fromEnv({ DATABASE_URL: 'postgres://u:hidden@h/d' }),
    /^database_url \(DATABASE_URL\) must be mysql:.* or sqlite:PATH\.$/,
  ],
  [
    'a list that is no JSON',
    () => fromEnv({ GATEWAY_WEBHOOKS__RETRY_DELAYS_S: '[1,' }),
    /^GATEWAY_WEBHOOKS__RETRY_DELAYS_S must be a list.*written as JSON\.$/,
  ],
  [
    'a list in other words',
    () => fromEnv({ GATEWAY_WEBHOOKS__RETRY_DELAYS_S: '1,2' }),
    /must be a list, each a number of at least 0/,
  ],
  [
    'a wrong item',
    () => fromEnv({ GATEWAY_WEBHOOKS__RETRY_DELAYS_S: '[1,-2]' }),
    /^webhooks\.retry_delays_s .*not \[1,-2\]\.$/,
  ],
  [
    'a key of the other mode',
    () => fromEnv({ TEST_API_KEY: `gw_live_${'x'.repeat(43)}` }),
    /^test_api_key \(TEST_API_KEY\) must be "gw_test_" followed by/,
  ],
  [
    'a key that can be guessed',
    () => fromEnv({ LIVE_API_KEY: 'gw_live_a' }),
    /^live_api_key \(LIVE_API_KEY\) must be "gw_live_" followed by 32 random bytes in base64url, which are 43 characters\.$/,
  ],
  [
    'an address for everybody with a password',
    () => fromEnv({ PUBLIC_URL: 'https://user:hidden@gateway.example/path' }),
    /^public_url \(PUBLIC_URL\) must be an http:.* address without a user or password\.$/,
  ],
  ...[
    'ab#hidden',
    'ab/hidden',
    'ab?hidden',
    '12#hidden',
    '12/hidden',
    '12?hidden',
    '%hidden',
  ].flatMap((password): readonly (typeof refusals)[number][] => [
    [
      `the password ${password} in the broker's address`,
      () => fromEnv({ AMQP_URL: `amqp://user:${password}@host/vhost` }),
      /^amqp_url \(AMQP_URL\) is not an address: write .* %3F %23, or give .* in AMQP_PASSWORD;/,
    ],
    [
      `the password ${password} in the database's address`,
      () => fromEnv({ DATABASE_URL: `mysql://user:${password}@host/gateway` }),
      /^database_url \(DATABASE_URL\) is not an address: .* %23, or give .* in DATABASE_PASSWORD;/,
    ],
  ]),
  [
    'a name of the database that is not encoded',
    () => fromEnv({ DATABASE_URL: 'mysql://user:hidden@host/gate%way' }),
    /^database_url \(DATABASE_URL\) is not an address: .* password and database name as %25 /,
  ],
  ...[
    'ssl-mode=REQUIRED',
    'sslmode=require',
    'useSSL=true',
    'ssl=true',
    'ssl=[]',
    'ssl=hidden',
  ].map((parameter): (typeof refusals)[number] => [
    `the parameter ${parameter} of the database's address`,
    () => fromEnv({ DATABASE_URL: `mysql://user@host/gateway?compress=true&${parameter}` }),
    /^database_url \(DATABASE_URL\) has a parameter that the gateway does not read: .* DATABASE_CA,/,
  ]),
  [
    "a port of the broker's that is none",
    () => fromEnv({ AMQP_URL: 'amqp://user:hidden@host:99999' }),
    /^amqp_url \(AMQP_URL\) .* a port is at most 65535\.$/,
  ],
  [
    "a user in the simulated network's address",
    () => fromEnv({ SIMULATED_NETWORK_URL: 'tcp://user:hidden@127.0.0.1:3025' }),
    /^simulated_network_url \(SIMULATED_NETWORK_URL\) must be tcp:\/\/HOST:PORT or .* "-" or "_"\.$/,
  ],
  ...['h:70000', '::1:3025', 'h?:3025'].map((place): (typeof refusals)[number] => [
    `the place ${place} of the simulated network`,
    () => fromEnv({ SIMULATED_NETWORK_URL: `tcp://${place}` }),
    /^simulated_network_url \(SIMULATED_NETWORK_URL\) must be .* IPv6 host in brackets, .*65535/,
  ]),
  [
    'a short secret',
    () => fromEnv({ GATEWAY_SECRET: 'hidden' }),
    /^gateway_secret \(GATEWAY_SECRET\) must be 32 bytes in base64\.$/,
  ],
  [
    'an object where one belongs',
    () => fromEnv({ GATEWAY_LIMITS: '5' }),
    /^limits \(GATEWAY_LIMITS\) must be an object\.$/,
  ],
  [
    'a plan without a cap',
    () => fromEnv({ GATEWAY_PLANS__BIG__SENDS_CAP: '1' }),
    /^plans\.big\.new_contacts_cap \(GATEWAY_PLANS__BIG__NEW_CONTACTS_CAP\) is missing; it must be/,
  ],
  [
    'an unknown variable',
    () => fromEnv({ GATEWAY_LIMITS__WATS: '1' }),
    /^GATEWAY_LIMITS__WATS: there is no field "limits\.wats"; "limits" has loop_guard, .*waits/,
  ],
  [
    'an unknown variable at the top',
    () => fromEnv({ GATEWAY_FOO: '1' }),
    /^GATEWAY_FOO: there is no field "foo"; there are host, port/,
  ],
  [
    'a name that is no plan',
    () => fromEnv({ 'GATEWAY_PLANS__A.B__SENDS_CAP': '1' }),
    /there is no field "plans\.a\.b"/,
  ],
  [
    'an unknown field inside a variable',
    () => fromEnv({ GATEWAY_LIMITS: '{"wats": 1}' }),
    /^GATEWAY_LIMITS: there is no field "limits\.wats"/,
  ],
  [
    'an unknown field in the file',
    () => fromFile({ limits: { wats: 1 } }),
    /^gateway\.json: there is no field "limits\.wats"/,
  ],
  [
    'a prototype in the file',
    () => loadConfig({ env: {}, file: { name: 'f', text: '{"__proto__": {"port": 1}}' } }),
    /there is no field "__proto__"/,
  ],
  [
    'a wrong value in the file',
    () => fromFile({ limits: { waits: '2' } }),
    /^limits\.waits \(gateway\.json\) must be a whole number .*, not "2"\.$/,
  ],
  [
    'null in the file',
    () => fromFile({ port: null }),
    /^port \(gateway\.json\) must be .*, not null\.$/,
  ],
  [
    'a file that is no JSON',
    () => loadConfig({ env: {}, file: { name: 'f', text: '{' } }),
    /^f must be JSON: it is none from line 1, column 2 on\.$/,
  ],
  ...[
    ['{"a": "hidden"}\n}', 'line 2, column 1'],
    ['{\n  "a": hidden,\n  "b": "hidden"\n}', 'line 2, column 8'],
    ['{\n  "a": "hidden" "b": 1\n}', 'line 2, column 17'],
    ['{\n  "a": ["hidden", true, tru]\n}', 'line 2, column 28'],
    ['{\n  "a": "hid\nden"}', 'line 2, column 12'],
  ].map(([text = '', place]): (typeof refusals)[number] => [
    `a file that is no JSON at ${place}`,
    () => loadConfig({ env: {}, file: { name: 'f', text } }),
    new RegExp(`^f must be JSON: it is none from ${place} on\\.$`),
  ]),
  ['a file that is no object', () => fromFile([1]), /^gateway\.json must be a JSON object/],
  [
    'a file that is not there',
    () => readConfig({ GATEWAY_CONFIG: '/nowhere/x.json' }),
    /^GATEWAY_CONFIG must name a JSON file .*\/nowhere\/x\.json cannot \(ENOENT\)\.$/,
  ],
  [
    "a bucket's address of another protocol",
    () => fromEnv({ GATEWAY_MEDIA__S3__ENDPOINT: 'ftp://user:hidden@host' }),
    /^media\.s3\.endpoint \(GATEWAY_MEDIA__S3__ENDPOINT\) must be an http:\/\/ or https:\/\/ address\.$/,
  ],
  [
    "a network's address of another protocol",
    () => fromEnv({ MSGAPP_WEB_SOCKET_URL: 'http://user:hidden@host' }),
    /^drivers\.msgapp_web\.websocket_url \(MSGAPP_WEB_SOCKET_URL\) must be a ws:\/\/ or wss:\/\/ address\.$/,
  ],
  [
    "a bucket's key without its secret",
    () => fromEnv({ GATEWAY_MEDIA__S3__ACCESS_KEY: 'hidden' }),
    /^media\.s3\.secret_key \(GATEWAY_MEDIA__S3__SECRET_KEY\) is missing: set access_key and/,
  ],
  [
    "a bucket's secret without its key",
    () => fromFile({ media: { s3: { secret_key: 'hidden' } } }),
    /^media\.s3\.access_key \(GATEWAY_MEDIA__S3__ACCESS_KEY\) is missing: /,
  ],
  [
    'a shortest pause above the longest',
    () => fromEnv({ GATEWAY_PACING__MAX_MS: '0' }),
    /^pacing\.min_ms \(300\) must be at most pacing\.max_ms \(0\); both 0: no pauses\.$/,
  ],
  [
    'no secret beside a server',
    () => refuseUnservable(fromEnv({ DATABASE_URL: 'mysql://h/d' })),
    /^gateway_secret \(GATEWAY_SECRET\) must be set/,
  ],
];

t.test('what stops the start names the field and what it must be', async (t) => {
  for (const [what, load, sentence] of refusals) {
    try {
      load();
      t.fail(`${what} was taken`);
    } catch (error) {
      t.type(error, ConfigError, what);
      t.match((error as Error).message, sentence, what);
      t.notMatch((error as Error).message, /hidden/, `${what}: no secret is repeated`);
    }
  }
});

t.test('what the library of the database reads in its address is taken', async (t) => {
  for (const parameter of ['ssl={"rejectUnauthorized":true}', 'ssl=false', 'compress=true']) {
    const DATABASE_URL = `mysql://user@host/gateway?${parameter}`;
    t.equal(fromEnv({ DATABASE_URL }).database_url, DATABASE_URL);
  }
});

t.test('what the simulated network can be reached at is taken', async (t) => {
  for (const place of ['127.0.0.1:0', '[::1]:3025', 'network.internal:65535']) {
    const SIMULATED_NETWORK_URL = `tcp://${place}`;
    t.equal(fromEnv({ SIMULATED_NETWORK_URL }).simulated_network_url, SIMULATED_NETWORK_URL);
    t.equal(parseNetworkUrl(SIMULATED_NETWORK_URL).port, Number(place.split(':').at(-1)));
  }
});

t.test('a secret is what serving on a server takes', async () => {
  const GATEWAY_SECRET = randomBytes(32).toString('base64');
  refuseUnservable(fromEnv({ DATABASE_URL: 'mysql://h/d', GATEWAY_SECRET }));
  refuseUnservable(fromEnv({}));
});
