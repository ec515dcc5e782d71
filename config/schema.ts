import { type Static, Type } from 'typebox';
import { Closed, Nullable, OneOf } from '../core/schemas.ts';
import { AuditSettings } from './sections/audit.ts';
import { ChannelsSettings } from './sections/channels.ts';
import { ConsoleSettings } from './sections/console.ts';
import { DriversSettings } from './sections/drivers.ts';
import { LimitsSettings } from './sections/limits.ts';
import { McpSettings } from './sections/mcp.ts';
import { MediaSettings } from './sections/media.ts';
import { MessagesSettings } from './sections/messages.ts';
import { PacingSettings } from './sections/pacing.ts';
import { PlansSettings } from './sections/plans.ts';
import { PluginsSettings } from './sections/plugins.ts';
import { SessionsSettings } from './sections/sessions.ts';
import { ShutdownSettings } from './sections/shutdown.ts';
import { TenantsSettings } from './sections/tenants.ts';
import { WebhooksSettings } from './sections/webhooks.ts';

/** What a process can do; `ROLES` picks some of them. */
const roles = ['api', 'sessions', 'webhooks'] as const;

const secret = {
  pattern: '^[A-Za-z0-9+/_-]{43}=?$',
  'x-expected': '32 bytes in base64',
  'x-secret': 'all',
};

const presetKey = (mode: 'test' | 'live') => ({
  // As long as a generated key, so that nobody guesses it.
  pattern: `^gw_${mode}_[A-Za-z0-9_-]{43}$`,
  'x-expected': `"gw_${mode}_" followed by 32 random bytes in base64url, which are 43 characters`,
  'x-secret': 'all',
  default: null,
});

/** A number up to 65535. */
const portPattern = '([0-5]?[0-9]{1,4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])';

function Port(description: string, options: object) {
  return Type.Integer({ description, minimum: 0, maximum: 65_535, ...options });
}

function Password(address: string, env: string) {
  return Nullable(
    Type.String({
      description: `password for \`${address}\`, as it is; in the address itself it would have to be percent-encoded`,
      default: null,
      minLength: 1,
      'x-env': env,
      'x-secret': 'all',
    }),
  );
}

function Authority(address: string, env: string) {
  return Nullable(
    Type.String({
      description: `file with the certificates (PEM) of whoever signs the certificate of \`${address}\`, which must be made out to its host name`,
      default: null,
      minLength: 1,
      'x-env': env,
    }),
  );
}

/**
 * Every setting of the gateway. Beyond JSON Schema a field carries `x-env` (its own environment
 * variable), `x-unit`, `x-expected` (what a value must be, in words, where the schema alone would say it
 * badly), `x-default` (a default that depends on other fields, in words) and `x-secret`: `all` when the
 * value must never be shown, `password` when it is an address that may contain one.
 */
export const configSchema = Closed({
  host: Type.String({
    description: 'address to listen on',
    default: '127.0.0.1',
    minLength: 1,
    'x-env': 'HOST',
  }),
  port: Port('port to listen on; 0 takes a free one', { default: 3000, 'x-env': 'PORT' }),
  public_url: Nullable(
    Type.String({
      description: 'begins every absolute address that is given out',
      default: null,
      pattern: '^https?://[^\\s?#/@]+(/[^\\s?#]*)?$',
      'x-env': 'PUBLIC_URL',
      'x-expected': 'an http:// or https:// address without a user or password',
      'x-default': '`http://HOST:PORT`',
      'x-secret': 'password',
    }),
  ),
  data_dir: Type.String({
    description: 'folder of all state that is not in a database server',
    default: './data',
    minLength: 1,
    'x-env': 'DATA_DIR',
  }),
  database_url: Type.String({
    description: '`mysql://…` or `sqlite:PATH`',
    pattern: '^(mysql://.+|sqlite:.+)$',
    'x-env': 'DATABASE_URL',
    'x-expected': 'mysql://USER:PASSWORD@HOST:PORT/NAME or sqlite:PATH',
    'x-default': '`gateway.db` in `data_dir`',
    'x-secret': 'password',
  }),
  database_password: Password('database_url', 'DATABASE_PASSWORD'),
  database_ca: Authority('database_url', 'DATABASE_CA'),
  amqp_url: Nullable(
    Type.String({
      description:
        '`amqp://…` or `amqps://…`, which logs in as `guest` where it names no user; without it the broker is inside the process',
      default: null,
      pattern: '^amqps?://.+$',
      'x-env': 'AMQP_URL',
      'x-expected': 'an amqp:// or amqps:// address',
      'x-secret': 'password',
    }),
  ),
  amqp_password: Password('amqp_url', 'AMQP_PASSWORD'),
  amqp_ca: Authority('amqp_url', 'AMQP_CA'),
  gateway_secret: Nullable(
    Type.String({
      description: 'seals secrets at rest, 32 bytes in base64; required with `mysql://`',
      default: null,
      'x-env': 'GATEWAY_SECRET',
      'x-default': 'made once and kept in `data_dir`',
      ...secret,
    }),
  ),
  gateway_secret_previous: Nullable(
    Type.String({
      description: 'the one before, while rotating',
      default: null,
      'x-env': 'GATEWAY_SECRET_PREVIOUS',
      ...secret,
    }),
  ),
  test_api_key: Nullable(
    Type.String({
      description: 'key of the first test tenant instead of a generated one',
      'x-env': 'TEST_API_KEY',
      ...presetKey('test'),
    }),
  ),
  live_api_key: Nullable(
    Type.String({
      description: 'key of the first live tenant instead of a generated one',
      'x-env': 'LIVE_API_KEY',
      ...presetKey('live'),
    }),
  ),
  roles: Type.Array(OneOf(roles), {
    description: 'what this process does',
    default: [...roles],
    minItems: 1,
    uniqueItems: true,
    'x-env': 'ROLES',
  }),
  process_name: Nullable(
    Type.String({
      description: 'what this process is called in every life of it, and no other beside it',
      default: null,
      minLength: 1,
      maxLength: 300,
      'x-env': 'PROCESS_NAME',
      'x-default': 'name of the host and `port`',
    }),
  ),
  metrics_port: Nullable(
    Port('port of its own for the probes and metrics; 0 takes a free one', {
      default: null,
      'x-env': 'METRICS_PORT',
      'x-default': 'none: these are on `port`',
    }),
  ),
  log_level: OneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    description: 'what is logged',
    default: 'info',
    'x-env': 'LOG_LEVEL',
  }),
  log_format: OneOf(['auto', 'json', 'pretty'], {
    description: 'JSON lines, or short ones for a person; `auto` is `pretty` on a terminal',
    default: 'auto',
    'x-env': 'LOG_FORMAT',
  }),
  simulated_network_url: Nullable(
    Type.String({
      description:
        'a simulated network that runs alone, with its secret unless it has the same `data_dir`; without it one is started when needed',
      default: null,
      pattern: `^tcp://(:[A-Za-z0-9_-]{16,200}@)?(\\[[0-9a-fA-F:.]+\\]|[^/:?#@\\s]+):${portPattern}$`,
      'x-env': 'SIMULATED_NETWORK_URL',
      'x-expected':
        'tcp://HOST:PORT or tcp://:SECRET@HOST:PORT, an IPv6 host in brackets, a port of at most 65535, the secret of at least 16 letters, digits, "-" or "_"',
      'x-secret': 'password',
    }),
  ),
  plans: PlansSettings,
  limits: LimitsSettings,
  tenants: TenantsSettings,
  audit: AuditSettings,
  sessions: SessionsSettings,
  messages: MessagesSettings,
  pacing: PacingSettings,
  webhooks: WebhooksSettings,
  media: MediaSettings,
  mcp: McpSettings,
  console: ConsoleSettings,
  channels: ChannelsSettings,
  plugins: PluginsSettings,
  drivers: DriversSettings,
  shutdown: ShutdownSettings,
});

/**
 * The configuration of a process: complete, validated, never changed after the start. Plugins read it
 * from the container as `config`.
 */
export type GatewayConfig = Static<typeof configSchema>;

declare module '../core/container.ts' {
  interface Cradle {
    readonly config: GatewayConfig;
  }
}
