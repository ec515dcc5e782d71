import t from 'tap';
import { driverContract } from '../../testing/contract/driver.ts';
import { simulatedContract } from '../../testing/kit/simulated-contract.ts';
import { startSimulatedNetwork } from '../../testing/kit/simulated-network.ts';
import { unusualDrivers, wrongDrivers } from './wrong-drivers.ts';

/** By the fault of each driver the name of its suite. */
const suites: Readonly<Record<string, string>> = JSON.parse(process.env.SUITES ?? '{}');
const network = await startSimulatedNetwork();
t.teardown(() => network.stop());
// A wrong driver waits in vain for what does not come, the others go on beside it.
t.jobs = 8;
for (const [fault, name] of Object.entries(suites)) {
  const wrong = { ...wrongDrivers, ...unusualDrivers }[fault];
  if (wrong === undefined) throw new Error('no driver has this fault');
  t.test(fault, { buffered: true }, async (t) => {
    const contract = await simulatedContract(t, network, wrong.channel ?? 'chatapp');
    await driverContract(t, {
      ...contract,
      name,
      patienceMs: 15_000,
      makeDriver: async (context) => wrong.spoil(await contract.makeDriver(context)),
      world: { ...contract.world, ...wrong.world?.(contract.world) },
    });
  });
}
