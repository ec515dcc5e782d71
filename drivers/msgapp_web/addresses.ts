import type { ContactAddress } from '../../core/contracts/driver.ts';

/** The part of an address behind the `@`. */
const phoneServer = 's.whatsapp.net';
const hiddenServer = 'lid';

/** How the network writes a phone number: digits only, before an `@`. */
export function addressOfPhone(phone: string): string {
  return `${phone.replace(/^\+/, '')}@${phoneServer}`;
}

/** The digits of an address, without the device. */
export function userOf(address: string): string {
  return /^\d*/.exec(address)?.[0] ?? '';
}

/** The phone number of an address, E.164 with `+`; null when the address hides it. */
export function phoneOfAddress(address: string | null | undefined): string | null {
  const digits = address?.match(/^(\d+)(?:[:_.]\d+)*@(?:s\.whatsapp\.net|c\.us|hosted)$/)?.[1];
  return digits === undefined ? null : `+${digits}`;
}

/** The opaque id of an address, without the device; null when it is no such address. */
export function hiddenIdOf(address: string | null | undefined): string | null {
  const user = address?.match(/^(\d+)(?:[:_.]\d+)*@(?:lid|hosted\.lid)$/)?.[1];
  return user === undefined ? null : `${user}@${hiddenServer}`;
}

/** Whether this is one contact, not a group, a channel or a status broadcast. */
export function isOneContact(address: string | null | undefined): boolean {
  return phoneOfAddress(address) !== null || hiddenIdOf(address) !== null;
}

/** Whether this is one device of a contact, beside its phone. */
export function isOneDevice(address: string | null | undefined): boolean {
  return /^\d+[:_.]\d+@/.test(address ?? '');
}

/** The account's own two addresses, as far as they are known. */
export function ownAddresses(
  me: { readonly id: string; readonly lid?: string | undefined } | undefined,
): readonly string[] {
  return [me?.id, me?.lid].flatMap((address) => (address ? [address] : []));
}

/** Whether an address is one of the account's own, whatever device of it. */
export function isOwn(address: string | null | undefined, own: readonly string[]): boolean {
  const [phone, hidden] = [phoneOfAddress(address), hiddenIdOf(address)];
  return own.some(
    (mine) =>
      (phone !== null && phone === phoneOfAddress(mine)) ||
      (hidden !== null && hidden === hiddenIdOf(mine)),
  );
}

/** Whether this is a contact's own list of recipients, each of whom has the message in a conversation of two. */
export function isBroadcastList(address: string | null | undefined): boolean {
  return /^\d+@broadcast$/.test(address ?? '');
}

/**
 * A contact by the two addresses that the network tells of it; either may be missing.
 * @returns null when neither names one contact
 */
export function contactAtAddress(
  one: string | null | undefined,
  other: string | null | undefined,
): ContactAddress | null {
  const phone = phoneOfAddress(one) ?? phoneOfAddress(other);
  const networkId = hiddenIdOf(one) ?? hiddenIdOf(other);
  return phone === null && networkId === null ? null : { phone, networkId };
}
