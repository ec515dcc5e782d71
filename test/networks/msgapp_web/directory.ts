import type { Library } from '../../../drivers/msgapp_web/library.ts';
import { Endpoint } from './endpoint.ts';
import { server } from './stanzas.ts';

/** What stands before a phone's digits in its owner's opaque id. */
const hiddenPrefix = '77';

/** Everybody on the network, by either address. People are there as soon as somebody asks for them. */
export class Directory {
  readonly #library: Library;
  readonly #people = new Map<string, Endpoint>();
  readonly #absent = new Set<string>();

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
