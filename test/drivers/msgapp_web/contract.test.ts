import t from 'tap';
import { driverContract } from '../../../testing/contract/driver.ts';
import { hastyDriver, runNetwork } from './running-network.ts';
import { msgappWebWorld } from './world.ts';

const { network, options } = await runNetwork(t);

await driverContract(t, {
  name: 'msgapp_web',
  makeDriver: () => hastyDriver(options),
  world: msgappWebWorld(network),
  patienceMs: 15_000,
});
