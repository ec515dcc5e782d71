import type { Driver, DriverFactory } from '../core/contracts/driver.ts';
import type { GatewayLog } from '../core/log.ts';
import { makeChatappDriver } from '../drivers/chatapp/driver.ts';
import { makeMsgappWebDriver } from '../drivers/msgapp_web/driver.ts';
import type { GatewayConfig } from './schema.ts';

/** The drivers of real networks that come with the gateway, by the name that `channels.NAME.driver` gives. */
const factories: Readonly<Record<string, DriverFactory>> = {
  chatapp: makeChatappDriver,
  msgapp_web: makeMsgappWebDriver,
};

/**
 * Makes the driver of each configured channel; called once at start. A driver that cannot be made is logged and
 * leaves its channel off for live tenants; no failure stops the start.
 * @returns the drivers by channel
 */
export async function makeChannelDrivers(
  config: Pick<GatewayConfig, 'channels' | 'drivers' | 'data_dir'>,
  log: GatewayLog,
): Promise<ReadonlyMap<string, Driver>> {
  const drivers = new Map<string, Driver>();
  for (const [channel, { driver: name, options }] of Object.entries(config.channels)) {
    const shared: Readonly<Record<string, unknown>> =
      Object.entries(config.drivers).find(([driver]) => driver === name)?.[1] ?? {};
    const merged = { ...shared, ...options };
    const driverLog = log.child({ driver: name, channel });
    try {
      const factory = Object.hasOwn(factories, name) ? factories[name] : undefined;
      if (factory === undefined) throw new Error(`there is no driver ${name}`);
      drivers.set(channel, await factory({ options: merged, dataDir: null, log: driverLog }));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const isMeant = Object.values(merged).some((value) => value !== null && value !== undefined);
      driverLog[isMeant ? 'error' : 'info']({ reason }, 'the channel is off for live tenants');
    }
  }
  return drivers;
}
