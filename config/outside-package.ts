import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DriverLog } from '../core/contracts/driver.ts';
import { messageOf } from '../core/error-code.ts';
import type { GatewayLog } from '../core/log.ts';
import { withTimeout } from '../core/waiting.ts';
import { ConfigError } from './error.ts';
import { makeWithOptions, type OutsideFactory } from './outside-options.ts';
import { pluginMetadata } from './plugin-metadata.ts';
import { whereThrown } from './where-thrown.ts';

/** A package that the configuration names, for a driver or a plugin. */
export interface OutsidePackage {
  /** Its name, or a file as `./mine.js`. */
  readonly name: string;
  /** The folder from which packages are resolved: the gateway's working directory. */
  readonly folder: string;
  readonly options: Readonly<Record<string, unknown>>;
  /** Paths in the configuration: `channels.xmpp.driver`, `channels.xmpp.options`. */
  readonly fields: { readonly name: string; readonly options: string };
  /** What it makes, for the person who reads the refusal. */
  readonly noun: 'driver' | 'plugin';
  /** The time that loading the package and its factory may take together, in milliseconds. */
  readonly makingMs: number;
}

interface Context {
  readonly options: OutsidePackage['options'];
  readonly log: GatewayLog | DriverLog;
  readonly dataDir?: string;
}

type Factory = OutsideFactory<Context, unknown>;

/**
 * Loads the package, checks its options by its own schema and has it make its driver or plugin.
 * @param rest what the factory is given beside its options
 * @throws Error whatever the package throws; ConfigError when it cannot be loaded, exports no factory, its options are
 *   wrong, or it takes too long
 */
export async function makeOfPackage(
  outside: OutsidePackage,
  rest: Pick<Context, 'log' | 'dataDir'>,
): Promise<unknown> {
  const make = async () => {
    const factory = await importFactory(outside);
    const { fields, options } = outside;
    return await makeWithOptions(factory, { ...rest, options }, fields.options);
  };
  return await inTime(make(), outside);
}

async function importFactory({ name, folder, fields, noun }: OutsidePackage): Promise<Factory> {
  const { resolve } = await import('import-meta-resolve');
  let module: { readonly default?: unknown };
  let url: string | null = null;
  try {
    url = resolve(name, pathToFileURL(join(folder, 'package.json')).href);
    module = await import(url);
  } catch (error) {
    const reason = messageOf(error);
    const where = await whereThrown(error, url);
    const message = `${fields.name}: ${name} cannot be loaded: ${reason}${where}`;
    throw new ConfigError(fields.name, message, { cause: error });
  }
  if (isFactory(module.default)) return module.default;
  const message = `${fields.name}: ${name} must export a ${noun} factory as default, a function that makes the ${noun}`;
  throw new ConfigError(fields.name, message);
}

function isFactory(value: unknown): value is Factory {
  // The plugin itself is a function too.
  return typeof value === 'function' && pluginMetadata(value) === null;
}

/** Answers as the making does. @throws ConfigError when that takes longer than `makingMs` */
export function inTime<Made>(making: Promise<Made>, outside: OutsidePackage): Promise<Made> {
  const { name, noun, makingMs } = outside;
  const field = outside.fields.name;
  const message = `${field}: ${name} did not make its ${noun} within ${makingMs / 1_000} s`;
  return withTimeout(makingMs, new ConfigError(field, message), making);
}
