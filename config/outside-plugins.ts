import type { FastifyInstance } from 'fastify';
import { messageOf } from '../core/error-code.ts';
import { type GatewayPlugin, gatewayPlugin } from '../core/kernel.ts';
import type { GatewayLog } from '../core/log.ts';
import { withTimeout } from '../core/waiting.ts';
import { boundReadyHooks } from './bounded-hooks.ts';
import { ConfigError } from './error.ts';
import { makeOfPackage } from './outside-package.ts';
import { type PluginMetadata, pluginMetadata } from './plugin-metadata.ts';
import type { GatewayConfig } from './schema.ts';
import { whereThrown } from './where-thrown.ts';

/** How long a package may take to make its plugin, in milliseconds. */
const makingMs = 30_000;

/**
 * How long a plugin's boot may take, and each of its hooks `onReady`, in milliseconds. The steps of its tables belong to
 * the storage and are not counted.
 */
const longestBootMs = 30_000;

/** Dependencies of the loader of outside plugins. */
export interface OutsidePluginParts {
  readonly log: GatewayLog;
  /** The folder from which packages are resolved: the working directory. */
  readonly folder: string;
  /** What boots before them, and what they may depend on. */
  readonly before: readonly GatewayPlugin[];
  /** What boots after them. */
  readonly after: readonly GatewayPlugin[];
  /** Tests shorten it. */
  readonly bootMs?: number;
}

/**
 * Makes the plugins of the configuration, in its order; called once at start, before anything boots. A plugin that
 * fails stops the start, since operations or rules would be missing for everybody; a driver that fails leaves only its
 * channel off.
 * @throws ConfigError that names `plugins.NAME` and the field
 */
export async function loadPlugins(
  plugins: GatewayConfig['plugins'],
  { log, folder, before, after, bootMs = longestBootMs }: OutsidePluginParts,
): Promise<readonly GatewayPlugin[]> {
  const names = namesOf(before);
  const later = namesOf(after);
  const made: GatewayPlugin[] = [];
  for (const [label, { package: name, options }] of Object.entries(plugins)) {
    const field = `plugins.${label}`;
    const fields = { name: `${field}.package`, options: `${field}.options` };
    const outside = { name, folder, options, fields, noun: 'plugin' as const, makingMs };
    try {
      const plugin = await makeOfPackage(outside, { log: log.child({ plugin: label }) });
      made.push(placed(plugin, field, names, later, bootMs));
    } catch (error) {
      throw error instanceof ConfigError ? error : await failure(field, 'could not be made', error);
    }
  }
  return made;
}

/** Wraps a plugin: an error of its boot, and one that takes too long, names its path in the configuration. */
function placed(
  made: unknown,
  field: string,
  names: Set<string>,
  later: ReadonlySet<string>,
  bootMs: number,
): GatewayPlugin {
  const metadata = pluginMetadata(made);
  if (metadata === null) {
    const message = `${field}: what the factory made is no plugin; make it with gatewayPlugin()`;
    throw new ConfigError(field, message);
  }
  if (names.has(metadata.name) || later.has(metadata.name)) {
    const message = `${field}: there already is a plugin called "${metadata.name}"`;
    throw new ConfigError(field, message);
  }
  refuseMissing(metadata, field, names);
  names.add(metadata.name);
  // `gatewayPlugin` has made it.
  const boot = made as GatewayPlugin;
  const booted: GatewayPlugin = async (app) => {
    app.operations.openToOutside();
    const within = `within ${bootMs / 1_000} s`;
    const late = new ConfigError(field, `${field} did not boot ${within}`);
    const held = new ConfigError(field, `${field}: a hook "onReady" did not end ${within}`);
    const restore = boundReadyHooks(app, (work) => withTimeout(bootMs, held, work));
    try {
      await withTimeout(bootMs, late, bootWithNested(boot, app));
    } catch (error) {
      throw error === late ? late : await failure(field, 'could not boot', error);
    } finally {
      restore();
    }
  };
  return gatewayPlugin(metadata.name, metadata.dependencies, booted, metadata.keeps);
}

/** Boots a plugin, with those that it registers. */
async function bootWithNested(boot: GatewayPlugin, app: FastifyInstance): Promise<void> {
  await boot(app);
  await app.after();
}

function namesOf(plugins: readonly GatewayPlugin[]): Set<string> {
  return new Set(plugins.map((plugin) => pluginMetadata(plugin)?.name ?? ''));
}

/** @throws ConfigError when what it depends on does not boot before it */
function refuseMissing(
  { dependencies }: PluginMetadata,
  field: string,
  names: ReadonlySet<string>,
): void {
  const missing = dependencies.find((dependency) => !names.has(dependency));
  if (missing === undefined) return;
  const message = `${field}: it depends on "${missing}", and before it boot ${[...names].join(', ')}`;
  throw new ConfigError(field, message);
}

async function failure(field: string, what: string, error: unknown): Promise<ConfigError> {
  const reason = messageOf(error);
  const where = await whereThrown(error);
  return new ConfigError(field, `${field} ${what}: ${reason}${where}`, { cause: error });
}
