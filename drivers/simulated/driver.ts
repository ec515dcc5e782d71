import type { Driver } from '../../core/contracts/driver.ts';
import type { SimulatedNetwork } from './launch.ts';
import { profileOf } from './profiles.ts';
import { SimulatedSession } from './session.ts';

/**
 * The driver that plays a channel for test tenants. Made once a channel; all of them share one way to
 * the network, which whoever made it also stops.
 */
export function makeSimulatedDriver(network: SimulatedNetwork, channel: string): Driver {
  return {
    capabilities: profileOf(channel).capabilities,
    open: (account, port) => new SimulatedSession(network, account, port),
  };
}
