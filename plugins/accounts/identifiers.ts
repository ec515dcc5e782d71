import type { Driver } from '../../core/contracts/driver.ts';
import { parsePhone, parsePhoneInAddress } from '../../core/phone.ts';

type Naming = Pick<Driver, 'identifier'>;

/** The longest identifier that is stored, in characters. */
const longestIdentifier = 100;

/** The kind of identifier that a driver's accounts have, for people. */
export function identifierDescription({ identifier }: Naming): string {
  return identifier?.description ?? 'a phone number in E.164 format, with its `+`';
}

/** The stored form of an identifier that a user gave; null when the driver refuses it. Pure. */
export function parseIdentifier({ identifier }: Naming, text: string): string | null {
  return identifier === undefined ? parsePhone(text) : storableIdentifier(identifier.parse(text));
}

/**
 * The stored form of an identifier in an address, where the `+` of a phone number may be absent. Pure.
 * @param driver null when the channel is off: what was connected while it was on can still be found and removed
 */
export function parseIdentifierInAddress(driver: Naming | null, text: string): string | null {
  if (driver?.identifier !== undefined) return parseIdentifier(driver, text);
  const phone = parsePhoneInAddress(text);
  return driver === null ? (phone ?? storableIdentifier(text)) : phone;
}

/**
 * An identifier, if it can be stored; else null. Pure.
 * @param given also what a driver has parsed, as types do not bind drivers at run time
 */
export function storableIdentifier(given: unknown): string | null {
  if (typeof given !== 'string' || given === '' || given.length > longestIdentifier) return null;
  return /\p{C}/u.test(given) ? null : given;
}
