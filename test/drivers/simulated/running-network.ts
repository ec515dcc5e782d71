import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SimulatedControl } from '../../../drivers/simulated/control.ts';
import { SimulatedNetwork } from '../../../drivers/simulated/launch.ts';
import { LogLines } from '../../contract/driver/bench.ts';
import { freePort } from '../../harness/ports.ts';
import { type ProjectProcess, startProcess, type Teardown } from '../../harness/processes.ts';

/** A simulated network that runs alone, as `npm run simulated-network` starts it. */
export interface RunningNetwork {
  readonly port: number;
  readonly url: string;
  readonly control: SimulatedControl;
  /** A gateway's way to it. */
  way(url?: string): SimulatedNetwork;
  /** SIGKILL, and the same network again on the same port and folder. */
  killAndRestart(): Promise<void>;
}

/** Starts one on a free port and a fresh folder; stopped and removed when the test ends. */
export async function runNetwork(
  t: Teardown,
  options: readonly string[] = [],
): Promise<RunningNetwork> {
  const folder = await temporaryFolder(t);
  const port = await freePort();
  const url = `tcp://127.0.0.1:${port}`;
  const way = (to = url) => new SimulatedNetwork({ url: to, dataDir: folder, log: new LogLines() });
  const control = new SimulatedControl(way());
  let running: ProjectProcess;
  const start = async () => {
    const program = ['drivers/simulated/network/main.ts', ...options];
    running = startProcess(t, program, { SIMULATED_NETWORK_URL: url, DATA_DIR: folder });
    await running.waitFor(/listening/);
  };
  await start();
  t.teardown(async () => control.close());
  const killAndRestart = async () => {
    await running.kill('SIGKILL');
    await start();
  };
  return { port, url, control, way, killAndRestart };
}

/** A folder of the test's own. */
export async function temporaryFolder(t: Teardown): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'simulated-network-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
