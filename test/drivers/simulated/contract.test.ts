import t from 'tap';
import { makeSimulatedDriver } from '../../../drivers/simulated/driver.ts';
import { driverContract } from '../../contract/driver.ts';
import { countingProxy } from './proxy.ts';
import { runNetwork } from './running-network.ts';
import { simulatedWorld } from './world.ts';

const network = await runNetwork(t);

for (const channel of ['msgapp_web', 'chatapp']) {
  const proxy = await countingProxy(t, network.port);
  await driverContract(t, {
    name: `simulated ${channel}`,
    makeDriver: () => makeSimulatedDriver(network.way(proxy.url), channel),
    world: simulatedWorld(network.control, channel, proxy),
  });
}
