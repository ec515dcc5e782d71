import { join } from 'node:path';
import t from 'tap';
import { driverContract } from '../../../testing/contract/driver.ts';
import { countingProxy } from '../../../testing/kit/counting-proxy.ts';
import { makeIsolatedDriver } from '../../../testing/kit/isolated-driver.ts';
import { startSimulatedNetwork } from '../../../testing/kit/simulated-network.ts';
import { simulatedWorld } from '../../../testing/kit/simulated-world.ts';

const { TEST_PROGRAM: compiled = '' } = process.env;
const name = 'test/config/isolated/simulated-worker';
const file =
  compiled === '' ? join(import.meta.dirname, 'simulated-worker.ts') : join(compiled, `${name}.js`);

const network = await startSimulatedNetwork();
t.teardown(() => network.stop());
const channel = 'chatapp';
const proxy = await countingProxy(t, network.url);
const options = { url: proxy.url, dataDir: network.dataDir, channel };

await driverContract(t, {
  name: 'isolated',
  makeDriver: (context) => makeIsolatedDriver(file, { ...context, options }),
  world: simulatedWorld(network.control, channel, proxy),
  patienceMs: 15_000,
});
