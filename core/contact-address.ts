import type { Driver } from './contracts/driver.ts';
import { type ErrorCode, GatewayError } from './errors.ts';
import { wrongField } from './field-refusals.ts';

type Naming = Pick<Driver, 'address'>;

/** The channels of a gateway, each with its driver. */
export interface ChannelDrivers {
  channels(): readonly string[];
  driverOf(channel: string, mode: 'live' | 'test'): Driver | null;
}

/** The refusal of a field that names a channel which this gateway does not have. */
export function unknownChannel(path: string, channels: ChannelDrivers): GatewayError {
  return wrongField(path, `must be one of ${channels.channels().join(', ')}`);
}

/** The refusal of a request that needs a driver which is missing or broken. */
export function noWorkingDriver(channel: string, code: ErrorCode): GatewayError {
  const message = `This gateway has no working driver for ${channel}; its log says why.`;
  return new GatewayError(code, { message });
}

/** What a text is as an address, by channel. */
export interface ChannelAddresses {
  /** Its stored form, where the driver takes it. */
  readonly forms: ReadonlyMap<string, string>;
  /** `driver_failed` where the driver threw, which concerns no other channel. */
  readonly faults: ReadonlyMap<string, GatewayError>;
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

/** What a text is as an address on each channel that has addresses. Those of test tenants have none. Pure. */
export function addressesOf(channels: ChannelDrivers, text: string): ChannelAddresses {
  const forms = new Map<string, string>();
  const faults = new Map<string, GatewayError>();
  for (const name of channels.channels()) {
    const driver = channels.driverOf(name, 'live');
    if (driver?.capabilities.recipients !== 'address') continue;
    try {
      const address = parseAddress(driver, text);
      if (address !== null) forms.set(name, address);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      faults.set(name, error);
    }
  }
  return { forms, faults };
}
