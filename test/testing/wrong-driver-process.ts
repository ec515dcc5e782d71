import t from 'tap';
import { driverContract } from '../../testing/contract/driver.ts';
import { simulatedContract } from '../../testing/kit/simulated-contract.ts';
import { startSimulatedNetwork } from '../../testing/kit/simulated-network.ts';
import { unusualDrivers, wrongDrivers } from './wrong-drivers.ts';

/** Runs the contract suite on the driver with the fault that the command line names. */
const wrong = { ...wrongDrivers, ...unusualDrivers }[process.argv[2] ?? ''];
if (wrong === undefined) throw new Error('no driver has this fault');
const network = await startSimulatedNetwork();
t.teardown(() => network.stop());
const contract = await simulatedContract(t, network, 'chatapp');
await driverContract(t, {
  ...contract,
  patienceMs: 15_000,
  makeDriver: async (context) => wrong.spoil(await contract.makeDriver(context)),
  world: { ...contract.world, ...wrong.world?.(contract.world) },
});
