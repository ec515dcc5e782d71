import type { DriverCapabilities } from './contracts/driver.ts';

/**
 * The channels that the specification names, with their recipients, which hold in a process without their driver, too.
 * Their refusals keep its codes; every other channel comes with its driver.
 */
export const specifiedChannels: ReadonlyMap<string, DriverCapabilities['recipients']> = new Map([
  ['msgapp_web', 'phone'],
  ['chatapp', 'contacts'],
]);
