import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { Endpoint } from './endpoint.ts';
import { server } from './stanzas.ts';

/** Prefix of a phone's digits in its owner's opaque id. */
const hiddenPrefix = '77';

/** Everybody on the network, by either address. People are there as soon as somebody asks for them. */
export class Directory {
  readonly #library: Library;
  readonly #people = new Map<string, Endpoint>();
  readonly #absent = new Set<string>();
  /** Numbers as people write them, whose owners have another one on the network. */
  readonly #real = new Map<string, string>();
  /** Numbers that devices have asked for, in order. */
  readonly lookUps: string[] = [];

  constructor(library: Library) {
    this.#library = library;
  }

  /** Takes a number off the network. */
  remove(phone: string): void {
    this.#absent.add(phone);
  }

  has(phone: string): boolean {
    return !this.#absent.has(phone);
  }

  /** Gives whoever people call by the one number the other one on the network, as with Brazil's ninth digit. */
  rename(phone: string, real: string): void {
    this.#real.set(phone, real);
  }

  /** The number on the network of whoever people call by this one. */
  realOf(phone: string): string {
    return this.#real.get(phone) ?? phone;
  }

  /** Whether somebody is reached under this very number. */
  isAddress(phone: string): boolean {
    return this.has(phone) && this.realOf(phone) === phone;
  }

  byPhone(phone: string): Endpoint {
    return this.#person(phone, `${hiddenPrefix}${phone.replace('+', '')}`);
  }

  /** By what `ShownMessage.to` calls somebody: the phone, or the digits of the opaque id. */
  byName(name: string): Endpoint {
    return name.startsWith('+') ? this.byPhone(name) : this.byAddress(`${name}@lid`);
  }

  /** By an address of either kind, with or without a device. */
  byAddress(address: string): Endpoint {
    const user = userOf(address);
    if (!address.endsWith('@lid')) return this.byPhone(`+${user}`);
    return user.startsWith(hiddenPrefix)
      ? this.byPhone(`+${user.slice(hiddenPrefix.length)}`)
      : this.#person(null, user);
  }

  /** Gives somebody new keys, as when a phone is set up anew. */
  reinstall(phone: string): void {
    const { hidden } = this.byPhone(phone);
    this.#people.set(hidden, new Endpoint(this.#library, phone, hidden));
  }

  #person(phone: string | null, hidden: string): Endpoint {
    const known = this.#people.get(hidden);
    if (known !== undefined) return known;
    const person = new Endpoint(this.#library, phone, hidden);
    this.#people.set(hidden, person);
    return person;
  }
}

/** The digits of an address. */
export function userOf(address: string): string {
  return address.split('@')[0]?.split(':')[0] ?? '';
}

/** The address that shows the phone, or the opaque one of somebody who hides it. */
export function addressOf({ phone, hidden }: Endpoint): string {
  return phone === null ? `${hidden}@lid` : `${phone.replace('+', '')}@${server}`;
}
