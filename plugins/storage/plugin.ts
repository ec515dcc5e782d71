import type { FastifyInstance } from 'fastify';
import { provide } from '../../core/container.ts';
import { GatewayError } from '../../core/errors.ts';
import { type GatewayPlugin, gatewayPlugin } from '../../core/kernel.ts';
import type { GatewayLog } from '../../core/log.ts';
import { Loop } from '../../core/loop.ts';
import { databaseStartMs } from '../../core/starting.ts';
import type { StorageContents } from './contents.ts';
import './contract.ts';
import { type LaneMeter, laneMeter, noMeter, showDatabase } from './metrics.ts';
import { migrate, waitForDatabase } from './migrations/migrate.ts';
import {
  authorityOf,
  type DatabaseLocation,
  openingRefusal,
  refuseDamaged,
  refuseOld,
} from './opening.ts';
import { makeStorage, type OpenStorage } from './storage.ts';

/** How often the file of an embedded database is asked whether clean-ups left it too large. */
const shrinkEveryMs = 60_000;

/** Opens and migrates the database, provides `storage`, and closes it as the last of all plugins. */
export function storagePlugin(contents: StorageContents): GatewayPlugin {
  return gatewayPlugin('storage', [], async (app: FastifyInstance) => {
    const { config, log } = app.container.cradle;
    // The command line measures nothing.
    const metrics = app.container.hasRegistration('metrics') ? app.container.cradle.metrics : null;
    const meter = metrics === null ? noMeter : laneMeter(metrics);
    const storage = await openStorage(config, contents, log, databaseStartMs, meter);
    if (metrics !== null) showDatabase(metrics, storage);
    const stopping = new AbortController();
    const shrinking = new Loop(
      () => shrinkEveryMs,
      () => storage.shrink(stopping.signal),
      (error) => log.warn({ err: error }, 'the database file could not be made smaller'),
    );
    app.addHook('onClose', async () => {
      stopping.abort();
      await shrinking.stop();
      await storage.close();
    });
    if (storage.dialect === 'sqlite') shrinking.kick();
    provide(app.container, 'storage', storage);
  });
}

/**
 * Opens the database, waits for it as long as it may take to start, migrates it and writes to it once.
 * @throws StartRefusal that says what to change
 */
export async function openStorage(
  location: DatabaseLocation,
  contents: StorageContents,
  log: GatewayLog,
  waitMs: number,
  meter: LaneMeter = noMeter,
): Promise<OpenStorage> {
  let storage: OpenStorage | undefined;
  try {
    storage = makeStorage({
      ...{ url: location.database_url, ca: authorityOf(location) },
      ...{ log, contents, meter },
    });
    await waitForDatabase(storage, waitMs);
    await refuseOld(storage);
    await refuseDamaged(storage);
    const applied = await migrate(storage, contents.steps);
    if (applied.length > 0) log.info({ steps: applied }, 'the database was migrated');
    await storage.probe();
    return storage;
  } catch (error) {
    await storage?.close();
    const cause = error instanceof GatewayError ? error.cause : error;
    throw openingRefusal(cause, location);
  }
}
