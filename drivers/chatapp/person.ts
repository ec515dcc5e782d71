import { Long, type tl } from '@mtcute/core';
import type { DriverContact, DriverEvent } from '../../core/contracts/driver.ts';

/** A user of the network, as the account knows it. */
export interface Person {
  readonly id: number;
  /** Access hash, decimal: the network lets nobody be addressed without it. */
  readonly accessHash: string;
  /** E.164, when the network shows it to this account. */
  readonly phone: string | null;
  readonly name: string | null;
  /** In the account's address book. */
  readonly contact: boolean;
}

/** A person who differs from the stored one. */
export interface PersonChange {
  readonly person: Person;
  /** A person of an earlier event, one that differs in number or name where there is one; undefined: somebody new. */
  readonly before: Person | undefined;
}

/** A person as a contact of the driver contract. */
export function personContact({ id, phone, name }: Person): DriverContact {
  return { phone, networkId: String(id), name };
}

/**
 * Events for changed people: first identities (a phone and an id are one person, or a new name), then those in the
 * address book. Pure.
 * @param later whether the address book was taken before
 */
export function eventsOf(changes: readonly PersonChange[], later: boolean): DriverEvent[] {
  const identities = changes.flatMap(({ person, before }): DriverEvent[] =>
    before === undefined || isNamedAlike(before, person)
      ? []
      : [{ type: 'identity', ...personContact(person) }],
  );
  const contacts = changes.flatMap(({ person }) => (person.contact ? [personContact(person)] : []));
  return contacts.length === 0
    ? identities
    : [...identities, { type: 'contacts', later, contacts }];
}

/** A person as the recipient of a message. */
export function inputPeer({ id, accessHash }: Person): tl.RawInputPeerUser {
  return { _: 'inputPeerUser', userId: id, accessHash: Long.fromString(accessHash) };
}

/** E.164 of a number as the network writes it. */
export function e164Of(digits: string | undefined): string | null {
  return digits === undefined || digits === '' ? null : `+${digits.replace(/^\+/, '')}`;
}

/** A person's name of its parts; null when they are empty. */
export function fullName(...parts: readonly (string | undefined)[]): string | null {
  return (
    parts
      .filter((part) => part !== undefined && part !== '')
      .join(' ')
      .trim() || null
  );
}

/** A user as a person; null when there is none. Pure. @param known the same person as known before */
export function personOf(user: tl.TypeUser, known: Person | null): Person | null {
  if (user._ !== 'user' || user.accessHash === undefined) return null;
  return {
    id: user.id,
    accessHash: user.accessHash.toString(),
    // The known phone stays: not every message shows it, and it identifies the contact.
    phone: e164Of(user.phone) ?? known?.phone ?? null,
    name: fullName(user.firstName, user.lastName) ?? user.username ?? null,
    contact: user.contact === true,
  };
}

/** Whether number and name are the same. */
export function isNamedAlike(one: Person, other: Person): boolean {
  return one.phone === other.phone && one.name === other.name;
}

/** Whether nothing differs. */
export function isSame(one: Person, other: Person | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The name of the credential of a person. Pure. */
export function personName(id: number | string): string {
  return `person:${id}`;
}
