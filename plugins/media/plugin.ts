import { join } from 'node:path';
import { provide } from '../../core/container.ts';
import { hoursMs, secondsMs } from '../../core/durations.ts';
import { gatewayPlugin } from '../../core/kernel.ts';
import { publicUrl } from '../../core/public-url.ts';
import { MediaAddresses } from './addresses.ts';
import './contract.ts';
import { Spool } from './fetching/spool.ts';
import { mediaMetrics } from './metrics.ts';
import { makeMediaService } from './service.ts';
import { serveMedia } from './serving.ts';
import { openStore } from './store/choose.ts';
import { startMediaUpkeep } from './upkeep.ts';

/** For which the server of a file that is to be sent may send nothing, milliseconds. */
const silenceMs = 10_000;

/**
 * Media: fetching what is to be sent, keeping and serving what was received. Boots before the accounts, whose
 * sessions fetch through it, so that it is closed after them.
 */
export default gatewayPlugin(
  'media',
  ['observability', 'storage', 'secrets', 'egress'],
  async (app) => {
    const { clock, config, egress, metrics, secrets, storage } = app.container.cradle;
    const { media: settings } = config;
    const log = app.container.cradle.log.child({ plugin: 'media' });
    const spool = new Spool(join(settings.directory, 'spool'));
    const fault = await spool.open();
    if (fault !== null) log.error({ err: fault }, 'files cannot be kept: make room for them');
    const store = await openStore(settings);
    const addresses = new MediaAddresses({
      keys: secrets.derive('media'),
      lifetimeMs: hoursMs(settings.address_h),
      publicUrl: () => publicUrl(app.server, config),
      now: () => clock.now(),
    });
    const timeoutMs = secondsMs(settings.timeout_s);
    const retention = { keptMs: hoursMs(settings.keep_h), waitingMs: timeoutMs + hoursMs(1) };
    const upkeep = startMediaUpkeep({ storage, store, spool, retention, log });
    const service = makeMediaService({
      storage,
      egress,
      store,
      spool,
      addresses,
      maxBytes: settings.max_bytes,
      timeoutMs,
      silenceMs,
      fetches: settings.fetches,
      aheadFiles: settings.ahead,
      metrics: mediaMetrics(metrics),
      sweep: () => upkeep.kick(),
      swept: (owner, signal) => upkeep.sweepOf(owner, signal),
      log,
    });
    provide(app.container, 'media', service);
    serveMedia(app, { addresses, store, find: (key) => storage.read.media.find(key) });
    app.addHook('onClose', async () => {
      const stopped = upkeep.stop();
      // Before the sweep has ended: one that waits for a service that is away would hold up the stop.
      store.close();
      await stopped;
      await spool.close();
    });
  },
);
