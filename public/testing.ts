/**
 * What the tests of a driver package, and of whoever uses a gateway, import. `messaging-gateway/testing`:
 *
 * - `driverContract`: the suite that exercises every clause of the driver contract; runs in tap.
 * - `runDriver`: one driver without server or database, with short verbs.
 * - `startSimulatedNetwork`: the network of test mode, its phones in your hands.
 */
export type {
  OutboxEntry,
  PhoneAddress,
  PhoneEvent,
  PhoneSettings,
  PhoneView,
} from '../drivers/simulated/control.ts';
export * from '../test/contract/driver.ts';
export {
  type DriverHarness,
  type HarnessOptions,
  type OpenOptions,
  runDriver,
} from '../test/kit/driver-harness.ts';
export type { HarnessAccount, LinkWord, SendOptions } from '../test/kit/harness-account.ts';
export { simulatedContract } from '../test/kit/simulated-contract.ts';
export {
  type NetworkOptions,
  type PhonePlace,
  type SimulatedNetworkProcess,
  startSimulatedNetwork,
} from '../test/kit/simulated-network.ts';
export type { PhoneMessage, SimulatedPhone } from '../test/kit/simulated-phone.ts';
