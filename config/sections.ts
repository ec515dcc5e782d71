import { Type } from 'typebox';
import { Closed, Nullable } from '../core/schemas.ts';

/** A length of time in seconds; parts of a second are allowed, which the tests use. */
function Seconds(description: string, value: number, minimum = 0) {
  return Type.Number({ description, default: value, minimum, maximum: 31_536_000, 'x-unit': 's' });
}

/** A number of something. */
function Count(description: string, value: number, minimum = 0) {
  return Type.Integer({ description, default: value, minimum, maximum: 1_000_000_000 });
}

/** A plan's own values; those without a default must be given for a plan that is added. */
export const Plan = Closed({
  sends_cap: Type.Integer({ description: 'messages accepted per UTC day', minimum: 0 }),
  new_contacts_cap: Type.Integer({ description: 'new contacts per UTC day', minimum: 0 }),
  accounts_cap: Type.Integer({ description: 'connected accounts', minimum: 0 }),
  channels: Type.Boolean({ description: 'whether accounts can be connected', default: true }),
  webhooks: Type.Boolean({ description: 'whether webhooks can be used', default: true }),
  ramp_days: Type.Integer({
    description: 'length of the warm-up ramp of a new account; 0 for none',
    default: 14,
    minimum: 0,
    maximum: 365,
    'x-unit': 'days',
  }),
});

function plan(
  sends_cap: number,
  new_contacts_cap: number,
  accounts_cap: number,
  ramp_days: number,
) {
  return { sends_cap, new_contacts_cap, accounts_cap, channels: true, webhooks: true, ramp_days };
}

/** Plans by name. */
export const Plans = Type.Record(Type.String({ pattern: '^[a-z][a-z0-9_-]{0,39}$' }), Plan, {
  description: 'the plans by name; a name that is not there yet adds a plan',
  default: {
    free: plan(50, 10, 1, 0),
    starter: plan(500, 100, 3, 14),
    growth: plan(2_000, 400, 10, 14),
    scale: plan(20_000, 4_000, 100, 14),
  },
});

/** Guards and rates. */
export const Limits = Closed({
  loop_guard: Closed({
    messages: Count('messages each way with one contact that refuse the next send; 0 is off', 10),
    window_s: Seconds('in which they are counted', 60, 0.1),
  }),
  opener_burst: Closed({
    openers: Count('first messages that one account may send; 0 is off', 5),
    window_s: Seconds('in which they are counted', 60, 0.1),
  }),
  safety: Closed({
    refusals: Count('refused openers of one account that restrict it; 0 is off', 10),
    window_s: Seconds('in which they are counted', 600, 0.1),
    hold_s: Seconds('how long the restriction lasts', 3_600, 0.1),
  }),
  waits: Count('long polls that one tenant may have open', 2, 1),
  requests_per_s: Type.Number({
    description: 'requests per second and key, with twice that as burst; 0 is off',
    default: 100,
    minimum: 0,
    maximum: 1_000_000,
    'x-unit': '1/s',
  }),
  body_bytes: Type.Integer({
    description: 'largest request body',
    default: 262_144,
    minimum: 1_024,
    maximum: 67_108_864,
    'x-unit': 'bytes',
  }),
});

/** Authentication. */
export const Tenants = Closed({
  cache_s: Type.Number({
    description: 'how long a key, plan, status or feature may be remembered; 0 asks every time',
    default: 2,
    minimum: 0,
    maximum: 2,
    'x-unit': 's',
  }),
  cache_entries: Count('keys remembered at most, wrong ones included', 10_000, 1),
});

/** Accounts' live links. */
export const Sessions = Closed({
  capacity: Count('sessions that one process holds', 1_000, 1),
  lease_s: Seconds('for which a process owns a session without renewal', 9, 2),
  logins_per_s: Type.Number({
    description: 'log-ins to the networks that one process begins at most',
    default: 20,
    minimum: 0.1,
    maximum: 1_000,
    'x-unit': '1/s',
  }),
  reconnect_max_s: Seconds('longest pause between two tries to reconnect', 300, 0.01),
  pairing_timeout_s: Seconds('after which an unfinished pairing ends', 300, 0.1),
  request_timeout_s: Seconds('in which the process that holds a session must answer', 10, 0.1),
});

/** Messages. */
export const Messages = Closed({
  max_text: Type.Integer({
    description: 'longest text',
    default: 4_096,
    minimum: 1,
    maximum: 65_536,
    'x-unit': 'characters',
  }),
  expire_h: Type.Number({
    description: 'after which a message that was never sent fails',
    default: 24,
    minimum: 0.0001,
    maximum: 8_760,
    'x-unit': 'h',
  }),
  idempotency_h: Type.Number({
    description: 'for which an Idempotency-Key is kept',
    default: 24,
    minimum: 0.0001,
    maximum: 8_760,
    'x-unit': 'h',
  }),
  events_h: Type.Number({
    description: 'for which an event is kept, whether or not a webhook wants it',
    default: 168,
    minimum: 0.0001,
    maximum: 8_760,
    'x-unit': 'h',
  }),
});

/** Deliveries to subscribers. */
export const Webhooks = Closed({
  timeout_s: Seconds('for a whole delivery', 10, 0.01),
  connect_timeout_s: Seconds('to connect to the receiver', 5, 0.01),
  retry_delays_s: Type.Array(Type.Number({ minimum: 0 }), {
    description: 'pauses before the retries of a failed delivery',
    default: [60, 300, 1_800, 7_200],
    maxItems: 20,
    'x-unit': 's',
  }),
  pause_after_failures: Count('failed attempts in a row that pause a URL', 20, 1),
  pause_after_s: Seconds('for which it must have been failing', 600),
  max_subscriptions: Count('subscriptions of one tenant', 20),
  concurrency: Count('requests to one URL that one process has open at once', 10, 1),
  in_flight: Count('requests to all URLs that one process has open at once', 1_000, 2),
  log_h: Type.Number({
    description: 'for which a delivery is kept in the log',
    default: 168,
    minimum: 0.0001,
    maximum: 8_760,
    'x-unit': 'h',
  }),
  allow_private_targets: Type.Boolean({
    description: 'deliver to addresses that are not public',
    default: false,
  }),
  allow_http: Type.Boolean({ description: 'deliver without TLS', default: false }),
});

/** Where inbound media is kept when several processes share it; without a bucket a folder. */
const MediaS3 = Closed({
  bucket: Nullable(
    Type.String({
      description: 'keeps inbound media in this S3-compatible bucket instead of a folder',
      default: null,
      minLength: 3,
    }),
  ),
  endpoint: Nullable(
    Type.String({
      description: 'address of the S3-compatible service',
      default: null,
      pattern: '^https?://[^\\s?#]+$',
      'x-expected': 'an http:// or https:// address',
      'x-default': "Amazon's, of the region",
    }),
  ),
  region: Type.String({ description: 'its region', default: 'us-east-1', minLength: 1 }),
  access_key: Nullable(
    Type.String({
      description: 'id of the access key',
      default: null,
      minLength: 1,
      'x-default': "the machine's own credentials",
      'x-secret': 'all',
    }),
  ),
  secret_key: Nullable(
    Type.String({
      description: 'the access key itself',
      default: null,
      minLength: 1,
      'x-secret': 'all',
    }),
  ),
  prefix: Type.String({
    description: 'stands before the name of every object',
    default: 'media/',
    pattern: '^([A-Za-z0-9_-]+/)*$',
    'x-expected': 'names of folders, each followed by a slash',
  }),
  path_style: Type.Boolean({
    description: 'name the bucket in the path, as most services but Amazon want it',
    default: true,
  }),
});

/** Pictures and files. */
export const Media = Closed({
  max_bytes: Type.Integer({
    description: 'largest file',
    default: 67_108_864,
    minimum: 1,
    maximum: 2_147_483_647,
    'x-unit': 'bytes',
  }),
  timeout_s: Seconds('in which a file must be fetched', 60, 0.1),
  fetches: Count('files that one process fetches at once', 8, 1),
  address_h: Type.Number({
    description: 'for which an address of inbound media is good',
    default: 24,
    minimum: 0.0001,
    maximum: 8_760,
    'x-unit': 'h',
  }),
  keep_h: Type.Number({
    description: 'for which inbound media is kept',
    default: 720,
    minimum: 0.0001,
    maximum: 87_600,
    'x-unit': 'h',
  }),
  directory: Type.String({
    description: 'where inbound media is kept, and files that are being fetched',
    minLength: 1,
    'x-default': '`media` in `data_dir`',
  }),
  s3: MediaS3,
});

/** The MCP server. */
export const Mcp = Closed({
  allowed_origins: Type.Array(
    Type.String({
      pattern: '^[a-z][a-z0-9+.-]*://[^/\\s]+$',
      'x-expected': 'an origin, such as `https://app.example.com`',
    }),
    {
      description: 'values of `Origin` that may call it, besides none and that of `public_url`',
      default: [],
      maxItems: 100,
    },
  ),
});

/** Channels by name. */
export const Channels = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
  Closed({
    driver: Type.String({
      description:
        'a driver that comes with the gateway, or the package of one, looked for in the working directory; a file as `./driver.js`',
      minLength: 1,
    }),
    options: Type.Record(Type.String(), Type.Unknown(), {
      description: 'options of the driver on this channel',
      default: {},
      'x-secret': 'all',
    }),
  }),
  {
    description: 'the channels by name',
    default: {
      msgapp_web: { driver: 'msgapp_web', options: {} },
      chatapp: { driver: 'chatapp', options: {} },
    },
  },
);

/** Plugins from outside by name. */
export const Plugins = Type.Record(
  Type.String({ pattern: '^[a-z][a-z0-9_]{0,39}$' }),
  Closed({
    package: Type.String({
      description:
        'the package of a plugin, looked for in the working directory; a file as `./plugin.js`',
      minLength: 1,
    }),
    options: Type.Record(Type.String(), Type.Unknown(), {
      description: 'options of the plugin',
      default: {},
      'x-secret': 'all',
    }),
  }),
  { description: 'plugins from outside by name, booted in the order given', default: {} },
);

function Option(env: string, description: string, options: object = {}) {
  return Nullable(
    Type.String({ description, default: null, minLength: 1, 'x-env': env, ...options }),
  );
}

/** Options of the drivers that come with the gateway. */
export const Drivers = Closed({
  msgapp_web: Closed({
    websocket_url: Option('MSGAPP_WEB_SOCKET_URL', "the network's socket address", {
      pattern: '^wss?://',
      'x-expected': 'a ws:// or wss:// address',
    }),
    root_public_key: Option(
      'MSGAPP_WEB_ROOT_PUBLIC_KEY',
      'trusted root key, base64 of the raw key',
    ),
    web_version: Option('MSGAPP_WEB_VERSION', 'version of the web client to log in as', {
      pattern: '^\\d{1,9}\\.\\d{1,9}\\.\\d{1,12}$',
      'x-expected': 'a version such as 2.3000.1023223821',
    }),
  }),
  chatapp: Closed({
    api_id: Nullable(
      Type.Integer({
        description: 'id of the registered application',
        default: null,
        minimum: 1,
        'x-env': 'CHATAPP_API_ID',
      }),
    ),
    api_hash: Option('CHATAPP_API_HASH', 'its secret', { 'x-secret': 'all' }),
    data_center: Option('CHATAPP_DATA_CENTER', 'the server, `host:port`', {
      pattern: '^.+:[0-9]+$',
      'x-expected': 'host:port',
    }),
    server_public_key: Option('CHATAPP_SERVER_PUBLIC_KEY', "PEM of the server's RSA key"),
  }),
});

/** The stop. */
export const Shutdown = Closed({
  drain_s: Type.Number({
    description: 'for which a stopping process still serves while `/readyz` answers 503',
    minimum: 0,
    maximum: 600,
    'x-unit': 's',
    'x-default': '5 with a broker and a database server, else 0.5',
  }),
});
