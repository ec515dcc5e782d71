import type { ContactAddress, StoredCredentials } from '../../core/contracts/driver.ts';
import { keyName } from './account-keys.ts';
import { phoneOfAddress, userOf } from './addresses.ts';
import { arrivingPrefix } from './arriving.ts';
import { arrivedAt } from './arriving-message.ts';
import { awaitedPrefix, awaitedSince } from './awaited.ts';
import { type Entry, entryName } from './contact-book.ts';
import { unmarked } from './erased.ts';
import { savedContactsName } from './identities.ts';

/** The number or hidden id of a contact, digits only. */
interface User {
  readonly digits: string;
  readonly isHidden: boolean;
}

/** What the library puts behind the digits in the address of a key: by kind of address, the last for rented devices. */
const domains = { phone: ['', '_128'], hidden: ['_1', '_129'] } as const;

/** Types of keys whose names begin with the address of a device. */
const deviceTypes = ['session', 'identity-key'] as const;

/** The name of a key that begins with a number or a hidden id. */
const userKey = /^(?:key:(?:session|identity-key|device-list|lid-mapping)|contact):(\d+)/;

/** The digits of each address in a text, sought from its sign back: forwards took quadratic time. */
const addressed = /@(?<=(\d+)(?:[:_.]\d+)*@)/g;

/**
 * The stored credentials that are about a contact: the library names them by number or hidden id, and the contact book
 * knows further numbers of the same person. Where the link imports, the answer also has names that are not stored: the
 * session marks these people as erased.
 */
export async function credentialsOf(
  contact: ContactAddress,
  stored: StoredCredentials,
  erasedAt: number,
): Promise<readonly string[]> {
  const users = await usersOf(contact, stored);
  const exact = users.flatMap(exactNames);
  const groupKeys = keyName('sender-key', '');
  const prefixes = [...users.flatMap(prefixesOf), groupKeys];
  const [values, begun] = await Promise.all([stored.get(exact), stored.names(prefixes)]);
  const authors = users.flatMap((user) => domainsOf(user).map((name) => `::${name}::`));
  const found = begun.filter(
    (name) => !name.startsWith(groupKeys) || authors.some((author) => name.includes(author)),
  );
  const mentioned = await mentioning(users, stored, erasedAt);
  const toMark = (await unmarked(users, stored)).map(bookName);
  return [...new Set([...Object.keys(values), ...found, ...mentioned, ...toMark])];
}

/**
 * What is kept for the gateway and names one of these users, and then names by which each is known. A message that came
 * after the erasure stays: its writer is met anew.
 */
async function mentioning(
  users: readonly User[],
  stored: StoredCredentials,
  erasedAt: number,
): Promise<readonly string[]> {
  const names = await stored.names([arrivingPrefix, awaitedPrefix, savedContactsName]);
  const values = Object.entries(names.length === 0 ? {} : await stored.get(names));
  const digits = new Set(users.map((user) => user.digits));
  const found = values.filter(
    ([name, text]) =>
      [...text.matchAll(addressed)].some(([, user]) => digits.has(user ?? '')) &&
      keptSince(name, text) < erasedAt,
  );
  return found.length === 0 ? [] : [...found.map(([name]) => name), ...users.map(bookName)];
}

/** When the message in a credential came from the network; 0 where it keeps none. */
function keptSince(name: string, text: string): number {
  if (name.startsWith(arrivingPrefix)) return arrivedAt(text);
  return name.startsWith(awaitedPrefix) ? awaitedSince(text) : 0;
}

/** The numbers and hidden ids in the names of such credentials, digits only. Pure. */
export function usersIn(names: readonly string[]): readonly string[] {
  const found = names.flatMap((name) => userKey.exec(name)?.[1] ?? []);
  return [...new Set(found)];
}

/** All numbers and hidden ids of a contact, as far as they are stored. */
async function usersOf(
  { phone, networkId }: ContactAddress,
  stored: StoredCredentials,
): Promise<readonly User[]> {
  const known = new Map<string, User>();
  let fresh = [...userAt(phone, false), ...userAt(networkId, true)];
  while (fresh.length > 0) {
    for (const user of fresh) known.set(placeOf(user), user);
    const values = await stored.get(fresh.flatMap((user) => [pairName(user), bookName(user)]));
    fresh = fresh
      .flatMap((user) => [
        ...paired(user, values[pairName(user)]),
        ...inBook(values[bookName(user)]),
      ])
      .filter((user) => !known.has(placeOf(user)));
  }
  return [...known.values()];
}

/** Whom the library's mapping names for a number or a hidden id: the other of the two. */
function paired({ isHidden }: User, text: string | undefined): readonly User[] {
  // Written by the library.
  const other = text === undefined ? null : (JSON.parse(text) as string);
  return userAt(other, !isHidden);
}

/** Who has a number on the network, and by which number users know whoever has this one. */
function inBook(text: string | undefined): readonly User[] {
  // Written by the contact book.
  const { address = null, phone = null } = text === undefined ? {} : (JSON.parse(text) as Entry);
  return [...userAt(address, phoneOfAddress(address) === null), ...userAt(phone, false)];
}

function userAt(address: string | null, isHidden: boolean): readonly User[] {
  const digits = userOf((address ?? '').replace('+', ''));
  return digits === '' ? [] : [{ digits, isHidden }];
}

function exactNames(user: User): readonly string[] {
  return [keyName('device-list', user.digits), pairName(user), bookName(user)];
}

function prefixesOf(user: User): readonly string[] {
  const { digits } = user;
  const devices = deviceTypes.flatMap((type) =>
    domainsOf(user).map((name) => keyName(type, `${name}.`)),
  );
  return [...devices, ...['@', ':'].map((end) => keyName('tctoken', `${digits}${end}`))];
}

/** The digits as the address of a key begins. */
function domainsOf({ digits, isHidden }: User): readonly string[] {
  return domains[isHidden ? 'hidden' : 'phone'].map((domain) => `${digits}${domain}`);
}

function pairName({ digits, isHidden }: User): string {
  return keyName('lid-mapping', isHidden ? `${digits}_reverse` : digits);
}

function bookName(user: User): string {
  return entryName(placeOf(user));
}

function placeOf({ digits, isHidden }: User): string {
  return isHidden ? `${digits}@lid` : digits;
}
