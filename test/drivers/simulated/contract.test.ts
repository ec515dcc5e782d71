import t from 'tap';
import { driverContract } from '../../../testing/contract/driver.ts';
import { simulatedContract } from '../../../testing/kit/simulated-contract.ts';
import { startSimulatedNetwork } from '../../../testing/kit/simulated-network.ts';

const network = await startSimulatedNetwork();
t.teardown(() => network.stop());

for (const channel of ['msgapp_web', 'chatapp']) {
  const contract = await simulatedContract(t, network, channel);
  await driverContract(t, { ...contract, patienceMs: 15_000 });
}
