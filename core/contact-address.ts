import type { Driver } from './contracts/driver.ts';

type Naming = Pick<Driver, 'address'>;

/** The channels of a gateway, each with its driver. */
export interface ChannelDrivers {
  channels(): readonly string[];
  driverOf(channel: string, mode: 'live' | 'test'): Driver | null;
}

/** The longest address of a contact that is stored, in characters. */
export const longestAddress = 190;

/** What a contact of a driver's network is called by, for people. */
export function addressDescription({ address }: Naming): string {
  return address?.description ?? 'an address of the network';
}

/**
 * The stored form of an address that a user gave; null when the driver refuses it. Pure.
 * @throws GatewayError `driver_failed`
 */
export function parseAddress({ address }: Naming, text: string): string | null {
  const parsed = address === undefined ? text : address.parse(text);
  if (parsed === null || parsed === '' || parsed.length > longestAddress) return null;
  return /\p{C}/u.test(parsed) ? null : parsed;
}

/**
 * What a text is as an address on each channel that has addresses, by channel. Those of test tenants have none. Pure.
 * @throws GatewayError `driver_failed`
 */
export function addressesOf(channels: ChannelDrivers, text: string): ReadonlyMap<string, string> {
  const addresses = new Map<string, string>();
  for (const name of channels.channels()) {
    const driver = channels.driverOf(name, 'live');
    if (driver?.capabilities.recipients !== 'address') continue;
    const address = parseAddress(driver, text);
    if (address !== null) addresses.set(name, address);
  }
  return addresses;
}
