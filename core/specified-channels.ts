import type { DriverCapabilities } from './contracts/driver.ts';

/**
 * The channels that the specification names, each with how its recipients are named: a process without the driver of
 * such a channel needs that. Their refusals have the specification's codes.
 */
export const specifiedChannels: ReadonlyMap<string, DriverCapabilities['recipients']> = new Map([
  ['msgapp_web', 'phone'],
  ['chatapp', 'contacts'],
]);
