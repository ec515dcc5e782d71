import type { DriverFactory } from '../../../core/contracts/driver.ts';
import { makeSimulatedDriver } from '../../../drivers/simulated/driver.ts';
import { SimulatedNetwork } from '../../../drivers/simulated/launch.ts';

/** The simulated driver as a package has it, for a thread: it is handed data alone. */
const make: DriverFactory = ({ options, log }) => {
  const { url, dataDir, channel } = options;
  const network = new SimulatedNetwork({ url: String(url), dataDir: String(dataDir), log });
  return makeSimulatedDriver(network, String(channel));
};

export default make;
