import { scopes } from '../../core/scopes.ts';
import type { Environment } from '../environment.ts';
import {
  countOption,
  given,
  type Options,
  oneOf,
  phoneOption,
  readOptions,
  secretOption,
} from './arguments.ts';
import type { ApiAccess, Command } from './command.ts';
import { triggers } from './trigger.ts';
import { UsageError } from './usage.ts';

const json = { json: { type: 'boolean' } } as const satisfies Options;
const tenant = { tenant: { type: 'string' }, ...json } as const satisfies Options;

const api = {
  'base-url': { type: 'string' },
  'api-key': { type: 'string' },
} as const satisfies Options;

/**
 * Understands the arguments behind `main.ts`. Pure.
 * @param env `API_URL` and `API_KEY` stand in for `--base-url` and `--api-key`
 * @throws UsageError
 */
export function parseCommand(args: readonly string[], env: Environment = {}): Command {
  if (args.length === 0) throw new UsageError('Name a command.');
  if (args.includes('--help') || args.includes('-h')) return { name: 'help' };
  if (args[0] === '--version' || args[0] === '-v') return { name: 'version' };
  const words = ['tenants', 'keys', 'secrets'].includes(args[0] ?? '') ? 2 : 1;
  const name = args.slice(0, words).join(' ');
  const rest = args.slice(words);
  switch (name) {
    case 'serve':
    case 'help':
    case 'settings':
    case 'version':
      readOptions(rest, {});
      return { name };
    case 'doctor':
    case 'migrate':
    case 'tenants list':
    case 'secrets reseal':
      return { name, json: readOptions(rest, json).values.json ?? false };
    case 'listen':
      return listen(rest, env);
    case 'trigger':
      return trigger(rest, env);
    case 'audit': {
      const { values } = readOptions(rest, { limit: { type: 'string' }, ...tenant });
      const { tenant: tenantId = null, limit = '50' } = values;
      return {
        name,
        tenantId,
        limit: countOption('limit', limit, 1_000),
        json: values.json ?? false,
      };
    }
    case 'tenants create':
      return tenantsCreate(rest);
    case 'tenants update':
      return tenantsUpdate(rest);
    case 'backup':
    case 'restore': {
      const { values, positionals } = readOptions(rest, json, 'FILE');
      return { name, file: positionals[0] ?? '', json: values.json ?? false };
    }
    case 'tenants delete': {
      const { values, positionals } = readOptions(
        rest,
        { yes: { type: 'boolean' }, ...json },
        'TENANT_ID',
      );
      const { yes: isSure = false, json: asJson = false } = values;
      return { name, id: positionals[0] ?? '', isSure, json: asJson };
    }
    case 'keys create':
      return keysCreate(rest);
    case 'keys list': {
      const { values } = readOptions(rest, tenant);
      return { name, tenantId: given('tenant', values.tenant), json: values.json ?? false };
    }
    case 'keys revoke': {
      const { values, positionals } = readOptions(rest, json, 'KEY_ID');
      return { name, keyId: positionals[0] ?? '', json: values.json ?? false };
    }
    default:
      throw new UsageError(`There is no command "${name}".`);
  }
}

function listen(args: string[], env: Environment): Command {
  const own = {
    forward: { type: 'string' },
    types: { type: 'string' },
    secret: { type: 'string' },
  } as const;
  const { values } = readOptions(args, { ...own, ...api });
  const forward = given('forward', values.forward);
  if (!URL.canParse(forward)) throw new UsageError(`--forward must be a URL, not "${forward}".`);
  const { types = null } = values;
  const secret = values.secret === undefined ? null : secretOption('secret', values.secret);
  const options = { ...access(values, env), forward, types: types?.split(',') ?? null, secret };
  return { name: 'listen', options };
}

function trigger(args: string[], env: Environment): Command {
  const own = {
    text: { type: 'string' },
    contact: { type: 'string' },
    phone: { type: 'string' },
    channel: { type: 'string' },
  } as const;
  const { values, positionals } = readOptions(args, { ...own, ...api, ...json }, 'EVENT');
  const { text = 'Hello!', channel = 'msgapp_web' } = values;
  const event = oneOf('EVENT', positionals[0] ?? '', triggers);
  const contact = phoneOption('contact', values.contact ?? '+12025550199');
  const phone = phoneOption('phone', values.phone ?? '+12025550111');
  const options = { ...access(values, env), event, text, contact, phone, channel };
  return { name: 'trigger', json: values.json ?? false, options };
}

function access(
  values: { readonly 'base-url'?: string; readonly 'api-key'?: string },
  env: Environment,
): ApiAccess {
  return {
    // An empty variable counts as absent, as in the settings.
    baseUrl: values['base-url'] ?? (env.API_URL || 'http://127.0.0.1:3000/v1'),
    apiKey: given('api-key', values['api-key'] ?? env.API_KEY),
  };
}

function keysCreate(args: string[]): Command {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    ...{ ...tenant, name: text, scopes: text, accounts: text, expires: text },
    'confirm-sends': flag,
  };
  const { values } = readOptions(args, options);
  const { name = null, accounts = null, expires = null } = values;
  const expiresAt = expires === null ? null : Date.parse(expires);
  // The comparison is false for NaN, too, which is no time; RFC 3339 ends with the year 9999.
  if (expiresAt !== null && !(expiresAt < Date.UTC(10_000, 0))) {
    throw new UsageError(
      `--expires must be a time such as 2027-01-31T00:00:00Z, not "${expires}".`,
    );
  }
  if (expiresAt !== null && expiresAt <= Date.now()) {
    throw new UsageError('--expires must be in the future.');
  }
  return {
    name: 'keys create',
    tenantId: given('tenant', values.tenant),
    json: values.json ?? false,
    settings: {
      name,
      scopes: values.scopes?.split(',').map((one) => oneOf('scopes', one, scopes)) ?? null,
      accountIds: accounts?.split(',') ?? null,
      expiresAt,
      confirmSends: values['confirm-sends'] ?? false,
    },
  };
}

function tenantsCreate(args: string[]): Command {
  const { values } = readOptions(args, {
    name: { type: 'string' },
    mode: { type: 'string' },
    plan: { type: 'string' },
    ramp: { type: 'boolean' },
    ...json,
  });
  return {
    name: 'tenants create',
    json: values.json ?? false,
    tenant: {
      name: given('name', values.name),
      mode: oneOf('mode', given('mode', values.mode), ['test', 'live']),
      plan: given('plan', values.plan),
      ramp: values.ramp ?? false,
    },
  };
}

function tenantsUpdate(args: string[]): Command {
  const list = { type: 'string', multiple: true } as const;
  const { values, positionals } = readOptions(
    args,
    { plan: { type: 'string' }, status: { type: 'string' }, enable: list, disable: list, ...json },
    'TENANT_ID',
  );
  const { plan, status, enable = [], disable = [] } = values;
  if (plan === undefined && status === undefined && enable.length + disable.length === 0) {
    throw new UsageError('Say what to change: --plan, --status, --enable or --disable.');
  }
  return {
    name: 'tenants update',
    json: values.json ?? false,
    id: positionals[0] ?? '',
    plan,
    status: status === undefined ? undefined : oneOf('status', status, ['active', 'suspended']),
    enable,
    disable,
  };
}
