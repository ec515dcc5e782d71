import { type Timing, usualTiming } from '../../../drivers/chatapp/timing.ts';
import type { Teardown } from '../../harness/processes.ts';
import { Control } from './network/control.ts';
import { Network } from './network/network.ts';

/** Waits that a test does not have the time for. */
export const quickTiming: Timing = {
  ...usualTiming,
  probe: 300,
  answer: 5_000,
  gap: 20,
  progress: 20,
  eventlessProgress: 20,
  retry: 100,
};

/** A network in the test's own process. */
export interface RunningNetwork {
  readonly network: Network;
  readonly control: Control;
  /** The driver's options that lead to it. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Starts a network on a free port; stopped when the test ends. */
export async function runNetwork(t: Teardown): Promise<RunningNetwork> {
  const network = await Network.listen();
  t.teardown(() => network.close());
  const options = {
    api_id: 12_345,
    api_hash: 'hash of the application',
    data_center: `127.0.0.1:${network.port}`,
    server_public_key: network.publicKey,
  };
  return { network, control: new Control(network), options };
}
