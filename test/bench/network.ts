import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '../../core/log.ts';
import { SimulatedControl } from '../../drivers/simulated/control.ts';
import { SimulatedNetwork } from '../../drivers/simulated/launch.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess, type Teardown } from '../harness/processes.ts';

/** A simulated network that both sides of a bench are connected to. */
export interface BenchNetwork {
  /** A value for SIMULATED_NETWORK_URL. */
  readonly url: string;
  /** Plays the phones' owners and their contacts. */
  readonly control: SimulatedControl;
}

/** Starts a simulated network in a process of its own. */
export async function benchNetwork(t: Teardown): Promise<BenchNetwork> {
  const dataDir = await mkdtemp(join(tmpdir(), 'network-'));
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const secret = randomBytes(16).toString('hex');
  const url = `tcp://:${secret}@127.0.0.1:${await freePort()}`;
  const env = { SIMULATED_NETWORK_URL: url, DATA_DIR: dataDir };
  await startProcess(t, ['drivers/simulated/network/main.ts'], env).waitFor(/listening/);
  const network = new SimulatedNetwork({ url, dataDir, log: createLog('silent') });
  const control = new SimulatedControl(network);
  t.teardown(async () => control.close());
  return { url, control };
}
