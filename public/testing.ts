/**
 * What the tests of a driver package, and of whoever uses a gateway, import. `messaging-gateway/testing`:
 *
 * - `driverContract`: the suite that exercises every clause of the driver contract; runs in tap.
 * - `makeIsolatedDriver`: a driver in a worker thread of its own, for that suite.
 * - `runDriver`: one driver without server or database, with short verbs.
 * - `startGateway`: a whole gateway in test mode, for the tests of plugins and bots.
 * - `startSimulatedNetwork`: the network of test mode, its phones in your hands.
 */
export type {
  OutboxEntry,
  PhoneAddress,
  PhoneEvent,
  PhoneSettings,
  PhoneView,
} from '../drivers/simulated/control.ts';
export * from '../testing/contract/driver.ts';
export {
  type DriverHarness,
  type HarnessOptions,
  type OpenOptions,
  runDriver,
} from '../testing/kit/driver-harness.ts';
export { type GatewayOptions, type GatewayProcess, startGateway } from '../testing/kit/gateway.ts';
export type { HarnessAccount, LinkWord, SendOptions } from '../testing/kit/harness-account.ts';
export { makeIsolatedDriver } from '../testing/kit/isolated-driver.ts';
export { simulatedContract } from '../testing/kit/simulated-contract.ts';
export {
  type NetworkOptions,
  type PhonePlace,
  type SimulatedNetworkProcess,
  startSimulatedNetwork,
} from '../testing/kit/simulated-network.ts';
export type { PhoneMessage, SimulatedPhone } from '../testing/kit/simulated-phone.ts';
