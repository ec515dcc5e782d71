import { join } from 'node:path';
import { isJsonObject } from '../core/json-object.ts';
import { type Environment, environmentSettings, noSuchField } from './environment.ts';
import { ConfigError } from './error.ts';
import { type FieldPath, type FieldSchema, isGroup, memberSchema, rootSchema } from './fields.ts';
import { positionOfFault } from './json-fault.ts';
import { refuseFoldersOfKernel } from './kernel-folders.ts';
import type { GatewayConfig } from './schema.ts';
import { refuseMisreadAddresses } from './server-addresses.ts';
import { setAt, type Tree } from './tree.ts';
import { refuseWrongValues } from './validate.ts';

/** Where a configuration comes from. */
export interface ConfigSources {
  readonly env: Environment;
  /** The file that `GATEWAY_CONFIG` names, already read; null without one. */
  readonly file: { readonly name: string; readonly text: string } | null;
}

/**
 * Makes the configuration from defaults, file and environment; the later wins. Pure.
 * @throws ConfigError for an unknown field or a wrong value
 */
export function loadConfig({ env, file }: ConfigSources): GatewayConfig {
  const tree = defaultsOf(rootSchema) as Tree;
  // The origin of each value, variable or file, for refusals.
  const origins = new Map<string, string>();
  if (file !== null) {
    put(tree, [], parseFile(file), file.name, origins);
  }
  for (const { variable, path, value } of environmentSettings(env)) {
    put(tree, path, value, variable, origins);
  }
  deriveDefaults(tree);
  const config = refuseWrongValues(tree, origins);
  refuseMisreadAddresses(config);
  refuseUselessAuthorities(config);
  refuseHalfKey(config);
  refuseWrongPauses(config);
  refuseSharedPort(config);
  refuseFoldersOfKernel(config);
  return config;
}

function refuseSharedPort({ port, metrics_port }: GatewayConfig): void {
  // 0 is any free port.
  if (port === 0 || port !== metrics_port) return;
  throw new ConfigError(
    'metrics_port',
    `metrics_port (METRICS_PORT) is ${port}, the port of the API: name another one.`,
  );
}

function refuseWrongPauses({ pacing: { min_ms, max_ms } }: GatewayConfig): void {
  if (min_ms <= max_ms) return;
  throw new ConfigError(
    'pacing.min_ms',
    `pacing.min_ms (${min_ms}) must be at most pacing.max_ms (${max_ms}); both 0: no pauses.`,
  );
}

/** Refuses an authority for an address without TLS: nothing would be protected. */
function refuseUselessAuthorities(config: GatewayConfig): void {
  if (config.amqp_ca !== null && !config.amqp_url?.startsWith('amqps://')) {
    throw new ConfigError(
      'amqp_ca',
      'amqp_ca (AMQP_CA) needs an amqps:// address: correct AMQP_URL.',
    );
  }
  if (config.database_ca !== null && !config.database_url.startsWith('mysql://')) {
    throw new ConfigError(
      'database_ca',
      'database_ca (DATABASE_CA) needs a mysql:// address: correct DATABASE_URL.',
    );
  }
}

/** Refuses one half of a bucket's access key: the machine's own credentials would be used without a word. */
function refuseHalfKey({ media: { s3 } }: GatewayConfig): void {
  if ((s3.access_key === null) === (s3.secret_key === null)) return;
  const missing = s3.access_key === null ? 'access_key' : 'secret_key';
  throw new ConfigError(
    `media.s3.${missing}`,
    `media.s3.${missing} (GATEWAY_MEDIA__S3__${missing.toUpperCase()}) is missing: set access_key and secret_key, ` +
      "or neither for the machine's own credentials.",
  );
}

/**
 * Refuses what a gateway that serves cannot do without, and the command line can.
 * @throws ConfigError
 */
export function refuseUnservable(config: GatewayConfig): void {
  if (!config.database_url.startsWith('sqlite:') && config.gateway_secret === null) {
    throw new ConfigError(
      'gateway_secret',
      'gateway_secret (GATEWAY_SECRET) must be set when DATABASE_URL is not SQLite: ' +
        '32 bytes in base64, for example from `openssl rand -base64 32`, the same for every process.',
    );
  }
}

function parseFile({ name, text }: { name: string; text: string }): Tree {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The library's own message repeats what is in the file around the position, such as a secret.
    const position = positionOfFault(text);
    throw new ConfigError(
      'GATEWAY_CONFIG',
      `${name} must be JSON: it is none from ${position} on.`,
    );
  }
  if (isJsonObject(parsed)) return parsed;
  throw new ConfigError('GATEWAY_CONFIG', `${name} must be a JSON object of fields.`);
}

function defaultsOf(schema: FieldSchema): unknown {
  if (schema.default !== undefined) return structuredClone(schema.default);
  if (schema.properties === undefined) return undefined;
  const made: Tree = {};
  for (const [name, member] of Object.entries(schema.properties)) {
    const value = defaultsOf(member);
    if (value !== undefined) made[name] = value;
  }
  return made;
}

/** Lays a value over the tree: groups are merged member by member, anything else is replaced. */
function put(
  tree: Tree,
  path: FieldPath,
  value: unknown,
  origin: string,
  origins: Map<string, string>,
): void {
  let schema = rootSchema;
  for (const [depth, name] of path.entries()) {
    const member = memberSchema(schema, name);
    const at = path.slice(0, depth + 1);
    if (member === undefined) {
      throw new ConfigError(at.join('.'), `${origin}: ${noSuchField(schema, at)}.`);
    }
    schema = member;
    // A plan or channel that is added starts from the defaults of its fields.
    setAt(tree, at, (present) => (present === undefined ? defaultsOf(member) : present));
  }
  if (isGroup(schema) && isJsonObject(value)) {
    for (const [name, member] of Object.entries(value)) {
      put(tree, [...path, name], member, origin, origins);
    }
    return;
  }
  origins.set(path.join('.'), origin);
  setAt(tree, path, () => value);
}

function deriveDefaults(tree: Tree): void {
  const folder = String(tree.data_dir);
  const media = tree.media;
  if (tree.database_url === undefined) tree.database_url = `sqlite:${join(folder, 'gateway.db')}`;
  if (isJsonObject(media) && media.directory === undefined) media.directory = join(folder, 'media');
  tree.database_url = withPassword(tree.database_url, tree.database_password);
  tree.amqp_url = withLogIn(withPassword(tree.amqp_url, tree.amqp_password));
  const { shutdown } = tree;
  if (isJsonObject(shutdown) && shutdown.drain_s === undefined) {
    const isOfSeveral = tree.amqp_url !== null && !String(tree.database_url).startsWith('sqlite:');
    shutdown.drain_s = isOfSeveral ? 5 : 0.5;
  }
}

/** The address with a password that was given beside it; whatever is wrong with either is found later. */
function withPassword(address: unknown, password: unknown): unknown {
  if (typeof address !== 'string' || typeof password !== 'string') return address;
  if (!/^(mysql|amqps?):/.test(address) || !URL.canParse(address)) return address;
  const url = new URL(address);
  url.password = encodeURIComponent(password);
  return url.href;
}

/** The address of a broker with the log-in that RabbitMQ has by itself, where it names none. */
function withLogIn(address: unknown): unknown {
  if (typeof address !== 'string' || !/^amqps?:/.test(address) || !URL.canParse(address)) {
    return address;
  }
  const url = new URL(address);
  if (url.username !== '') return address;
  url.username = 'guest';
  if (url.password === '') url.password = 'guest';
  return url.href;
}
