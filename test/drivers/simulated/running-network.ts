import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SimulatedControl } from '../../../drivers/simulated/control.ts';
import { SimulatedNetwork } from '../../../drivers/simulated/launch.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import {
  type NetworkOptions,
  startSimulatedNetwork,
} from '../../../testing/kit/simulated-network.ts';
import { freePort } from '../../harness/ports.ts';
import type { Teardown } from '../../harness/processes.ts';

/** A simulated network that runs alone. */
export interface RunningNetwork {
  readonly control: SimulatedControl;
  readonly dataDir: string;
  /** A gateway's way to it. */
  way(): SimulatedNetwork;
  /** SIGKILL, and the same network again on the same port and folder. */
  killAndRestart(): Promise<void>;
}

/** Starts one on a free port and a fresh folder; stopped and removed when the test ends. */
export async function runNetwork(t: Teardown, options?: NetworkOptions): Promise<RunningNetwork> {
  // Not one that a connection could have while the network is killed.
  const network = await startSimulatedNetwork({ port: await freePort(), ...options });
  t.teardown(() => network.stop());
  const { url, dataDir, control } = network;
  return {
    control,
    dataDir,
    way: () => new SimulatedNetwork({ url, dataDir, log: new LogLines() }),
    async killAndRestart() {
      await network.kill();
      await network.restart();
    },
  };
}

/** A folder of the test's own. */
export async function temporaryFolder(t: Teardown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulated-network-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
