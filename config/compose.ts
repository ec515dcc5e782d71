import { provide } from '../core/container.ts';
import { secondsMs } from '../core/durations.ts';
import { type GatewayParts, type GatewayPlugin, gatewayPlugin } from '../core/kernel.ts';
import type { GatewayLog } from '../core/log.ts';
import { SimulatedControl } from '../drivers/simulated/control.ts';
import { makeSimulatedDriver } from '../drivers/simulated/driver.ts';
import { SimulatedNetwork } from '../drivers/simulated/launch.ts';
import type {} from '../plugins/accounts/contract.ts';
import accounts from '../plugins/accounts/plugin.ts';
import { details } from '../plugins/accounts/reasons.ts';
import api from '../plugins/api/plugin.ts';
import audit from '../plugins/audit/plugin.ts';
import broker from '../plugins/broker/plugin.ts';
import cluster from '../plugins/cluster/plugin.ts';
import confirmations from '../plugins/confirmations/plugin.ts';
import consolePlugin from '../plugins/console/plugin.ts';
import contacts from '../plugins/contacts/plugin.ts';
import egress from '../plugins/egress/plugin.ts';
import { erasurePlugin } from '../plugins/erasure/plugin.ts';
import events from '../plugins/events/plugin.ts';
import { jobPlugins } from '../plugins/jobs/plugin.ts';
import limits from '../plugins/limits/plugin.ts';
import mcp from '../plugins/mcp/plugin.ts';
import media from '../plugins/media/plugin.ts';
import messages from '../plugins/messages/plugin.ts';
import observability from '../plugins/observability/plugin.ts';
import type {} from '../plugins/sandbox/contract.ts';
import sandbox from '../plugins/sandbox/plugin.ts';
import secrets from '../plugins/secrets/plugin.ts';
import type { StorageContents } from '../plugins/storage/contents.ts';
import databaseLock from '../plugins/storage/lock-plugin.ts';
import { withPlugins } from '../plugins/storage/outside.ts';
import { storagePlugin } from '../plugins/storage/plugin.ts';
import firstStart from '../plugins/tenants/first-start.ts';
import tenants from '../plugins/tenants/plugin.ts';
import webhooks from '../plugins/webhooks/plugin.ts';
import { ContainedDriver } from './contained-driver.ts';
import { CountedDriverFaults, takeStrayFaults } from './driver-faults.ts';
import { makeChannelDrivers } from './drivers.ts';
import { loadPlugins } from './outside-plugins.ts';
import { pluginMetadata } from './plugin-metadata.ts';
import type { GatewayConfig } from './schema.ts';
import { StallWatch, unwatched } from './stall-watch.ts';
import { contents } from './tables.ts';

/**
 * The whole gateway: its plugins in boot order, those from outside among them, and its drivers. Plugins stop in reverse
 * order.
 * @throws ConfigError when a plugin from outside cannot be made
 */
export async function composeGateway(
  config: GatewayConfig,
  log: GatewayLog,
): Promise<GatewayParts> {
  const jobs = jobPlugins();
  const before = (kept: StorageContents): readonly GatewayPlugin[] => [
    observability,
    databaseLock,
    storagePlugin(kept),
    secrets,
    broker,
    cluster,
    jobs.first,
    tenants,
    audit,
    egress,
    events,
    media,
    erasurePlugin(kept.schema),
    driversPlugin(config, log),
    accounts,
    limits,
    messages,
    contacts,
    webhooks,
    sandbox,
  ];
  const after = [
    ...(config.roles.includes('api') ? [confirmations, api, mcp, consolePlugin] : []),
    firstStart,
    jobs.second,
  ];
  const folder = process.cwd();
  const parts = { log, folder, before: before(contents), after };
  const outside = await loadPlugins(config.plugins, parts);
  const kept = withPlugins(
    contents,
    outside.flatMap((plugin) => pluginMetadata(plugin) ?? []),
  );
  return {
    log,
    bodyLimit: config.limits.body_bytes,
    drainMs: secondsMs(config.shutdown.drain_s),
    plugins: [...before(kept), ...outside, ...after],
    prepare: (container) => provide(container, 'config', config),
  };
}

/**
 * The drivers, and what they share, which stops once the sessions above it are closed. A test tenant's channels all run on
 * the simulated network, which is only started when somebody needs it. A live tenant's run on the channel's own driver,
 * where there is one.
 */
function driversPlugin(config: GatewayConfig, log: GatewayLog): GatewayPlugin {
  return gatewayPlugin('drivers', ['observability', 'cluster'], async (app) => {
    const names = Object.keys(config.channels);
    const network = new SimulatedNetwork({
      url: config.simulated_network_url,
      dataDir: config.data_dir,
      log: log.child({ driver: 'simulated' }),
    });
    const control = new SimulatedControl(network);
    const simulated = new Map(names.map((name) => [name, makeSimulatedDriver(network, name)]));
    const { cluster, metrics } = app.container.cradle;
    const faults = new CountedDriverFaults(log, metrics);
    const work = metrics.counter('gateway_driver_work_total');
    const release = takeStrayFaults(faults);
    const watch = new StallWatch(faults);
    const parts = { faults, watch, heldBack: details.stalled };
    const live = await makeChannelDrivers(config, {
      log,
      folder: process.cwd(),
      dataDir: config.data_dir,
      count: (channel, name) => work.add({ channel, work: name }),
      faults,
      deadline: cluster.lease.shared,
      contain: (channel, driver, isIsolated) => {
        if (isIsolated) return new ContainedDriver(channel, driver, { ...parts, watch: unwatched });
        watch.start();
        return new ContainedDriver(channel, driver, parts);
      },
    });
    provide(app.container, 'driverFaults', faults);
    provide(app.container, 'simulatedNetwork', control);
    provide(app.container, 'channels', {
      driverOf: (channel, mode) => (mode === 'test' ? simulated : live).get(channel) ?? null,
      channels: () => names,
    });
    app.addHook('onClose', async () => {
      const drivers = [...simulated.values(), ...live.values()];
      await Promise.all(drivers.map((driver) => driver.close?.()));
      release();
      watch.stop();
      control.close();
      await network.stop();
    });
  });
}
