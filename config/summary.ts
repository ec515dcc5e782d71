import { isDeepStrictEqual } from 'node:util';
import { isJsonObject } from '../core/json-object.ts';
import { type FieldSchema, memberSchema, rootSchema } from './fields.ts';
import { loadConfig } from './load.ts';
import type { GatewayConfig } from './schema.ts';
import type { Tree } from './tree.ts';

/**
 * The configuration as the log may show it: what differs from the defaults, with secrets and passwords in addresses
 * starred out.
 */
export function configSummary(config: GatewayConfig): Tree {
  const usual = loadConfig({ env: { DATA_DIR: config.data_dir }, file: null });
  const { data_dir } = loadConfig({ env: {}, file: null });
  return masked(rootSchema, differing(config, { ...usual, data_dir })) as Tree;
}

function differing(values: Tree, usual: Tree): Tree {
  const found = Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
    const before = usual[name];
    if (isDeepStrictEqual(value, before)) return [];
    return [[name, isJsonObject(value) && isJsonObject(before) ? differing(value, before) : value]];
  });
  return Object.fromEntries(found);
}

function masked(schema: FieldSchema, value: unknown): unknown {
  const secret = schema['x-secret'];
  if (secret === 'all') return isEmpty(value) ? value : '***';
  if (secret === 'password') return typeof value === 'string' ? withoutPassword(value) : value;
  if (!isJsonObject(value)) return value;
  const shown: Tree = {};
  for (const [name, member] of Object.entries(value)) {
    shown[name] = masked(memberSchema(schema, name) ?? {}, member);
  }
  return shown;
}

function isEmpty(value: unknown): boolean {
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0);
}

/** An address without the password before its host and without parameters, which may hold one too. */
export function withoutPassword(address: string): string {
  return address.replace(/\/\/([^/@]*?):.*@/, '//$1:***@').replace(/\?.*$/, '?***');
}
