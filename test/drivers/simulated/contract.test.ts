import t from 'tap';
import { driverContract } from '../../contract/driver.ts';
import { simulatedContract } from '../../kit/simulated-contract.ts';
import { startSimulatedNetwork } from '../../kit/simulated-network.ts';

const network = await startSimulatedNetwork();
t.teardown(() => network.stop());

for (const channel of ['msgapp_web', 'chatapp']) {
  await driverContract(t, await simulatedContract(t, network, channel));
}
