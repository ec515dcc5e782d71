import { makeSimulatedDriver } from '../../drivers/simulated/driver.ts';
import { SimulatedNetwork } from '../../drivers/simulated/launch.ts';
import type { DriverContract } from '../contract/driver/world.ts';
import { countingProxy, type Teardown } from './counting-proxy.ts';
import type { SimulatedNetworkProcess } from './simulated-network.ts';
import { simulatedWorld } from './simulated-world.ts';

/**
 * What `driverContract` needs to exercise the driver that plays a channel on a simulated network: a run of the
 * suite to compare one's own with.
 * @param t tap's test, at whose end the way to the network is closed
 */
export async function simulatedContract(
  t: Teardown,
  { url, dataDir, control }: SimulatedNetworkProcess,
  channel: string,
): Promise<DriverContract> {
  const proxy = await countingProxy(t, url);
  return {
    name: `simulated ${channel}`,
    makeDriver: ({ log }) =>
      makeSimulatedDriver(new SimulatedNetwork({ url: proxy.url, dataDir, log }), channel),
    world: simulatedWorld(control, channel, proxy),
  };
}
