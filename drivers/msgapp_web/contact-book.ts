import type { ContactAddress, DriverContact } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import {
  addressOfPhone,
  contactAtAddress,
  hiddenIdOf,
  isOwn,
  phoneOfAddress,
  userOf,
} from './addresses.ts';
import type { LibrarySocket } from './library.ts';

/** What is kept of a number or a hidden id, in the account's credentials. */
export interface Entry {
  /** The address that the network names for this number: it may be of another number. */
  readonly address?: string;
  /** The number by which users know whoever has this one on the network. */
  readonly phone?: string;
  /** The name in the phone's address book. */
  readonly name?: string;
}

/** A change of an entry that is under way. */
interface Change {
  /** Digits of the number or the hidden id. */
  readonly user: string;
  isDropped: boolean;
}

/** The name under which the network's way of addressing is kept. */
const addressingName = 'addressing';
/** How many contacts' way of addressing is remembered. */
const remembered = 10_000;

/** Who is who among one account's contacts: numbers, addresses, hidden ids and saved names. One for each socket. */
export class ContactBook {
  readonly #keys: AccountKeys;
  readonly #socket: Pick<LibrarySocket, 'signalRepository'>;
  /** By hidden id: whether the contact's latest message came from it, or was taken only there. */
  readonly #addressing = new Map<string, boolean>();
  /** Whether the network has moved this account's conversations to hidden ids; null: not read yet. */
  #hiddenIds: boolean | null = null;
  #changes: Promise<void> = Promise.resolve();
  readonly #underWay = new Set<Change>();

  constructor(keys: AccountKeys, socket: Pick<LibrarySocket, 'signalRepository'>) {
    this.#keys = keys;
    this.#socket = socket;
  }

  /**
   * A contact by the addresses that the network tells of it; either may be missing, and is added when known.
   * @param name what the contact is called on the network; a saved name wins
   * @returns null when neither names one contact
   */
  async person(
    one: string | null | undefined,
    other: string | null | undefined,
    name: string | null,
  ): Promise<DriverContact | null> {
    const address = contactAtAddress(one, other);
    if (address === null) return null;
    const phone = address.phone ?? (await this.#phoneBehind(address.networkId));
    const networkId =
      address.networkId ?? (phone && (await this.#hiddenIdOf(addressOfPhone(phone))));
    const entry = phone === null ? {} : await this.#entry(phone);
    const saved = this.#keys.imports.contacts
      ? (entry.name ?? (networkId && (await this.#entry(networkId)).name))
      : null;
    return { phone: entry.phone ?? phone, networkId, name: saved || name };
  }

  /** Whether this is an address of that contact, whatever device of it. */
  async isAt(address: string, contact: ContactAddress): Promise<boolean> {
    const person = await this.person(address, null, null);
    if (person === null) return false;
    const { phone, networkId } = person;
    if (phone !== null && phone === contact.phone) return true;
    if (networkId !== null && networkId === contact.networkId) return true;
    // Of several numbers with one address, a person has the first.
    const { shown, hidden } = await this.#addressesOf(contact);
    return isOwn(
      address,
      [shown, hidden].filter((one) => one !== null),
    );
  }

  /** Whether these are surely addresses of two people: a number without a known hidden id may be of either. */
  async areStrangers(one: string, other: string): Promise<boolean> {
    const hidden = async (address: string) =>
      hiddenIdOf(address) ?? (await this.#hiddenIdOf(address));
    const [first, second] = await Promise.all([hidden(one), hidden(other)]);
    return first !== null && second !== null && first !== second;
  }

  /** Where a message to this contact goes; null when the network has to be asked, or knows no such address. */
  async destinationOf(contact: ContactAddress): Promise<string | null> {
    const { shown, hidden } = await this.#addressesOf(contact);
    if (hidden === null || shown === null) return shown ?? hidden;
    const latest = this.#addressing.get(hidden);
    return (latest ?? (await this.#isAddressedByHiddenIds())) ? hidden : shown;
  }

  /** The contact's address beside this one; null: none is known. */
  async otherAddressOf(contact: ContactAddress, address: string): Promise<string | null> {
    const { shown, hidden } = await this.#addressesOf(contact);
    return address === hidden ? shown : hidden;
  }

  /**
   * Keeps the address that the network names for a number. Of several numbers with one address, users know whoever has it
   * by the first that was asked for, or by the address's own number once they have written to that.
   */
  async keepAddress(phone: string, address: string): Promise<void> {
    const kept = addressOf(address);
    if (kept === null) return;
    const isKept = await this.#change(phone, () => ({ address: kept }));
    const real = phoneOfAddress(kept);
    if (real === null || !isKept) return;
    await this.#change(real, (before) => ({
      phone: real === phone ? real : (before.phone ?? phone),
    }));
  }

  /** Keeps the name that a contact has in the phone's address book. */
  async keepName({ phone, networkId }: ContactAddress, name: string): Promise<void> {
    const address = phone ?? networkId;
    if (address !== null) await this.#change(address, () => ({ name }));
  }

  /** Notes by which of its addresses a contact has written. */
  async noteAddressing(from: string | undefined, { networkId }: ContactAddress): Promise<void> {
    if (networkId === null) return;
    const hidden = hiddenIdOf(from) !== null;
    this.#note(networkId, hidden);
    if (!hidden || (await this.#isAddressedByHiddenIds())) return;
    this.#hiddenIds = true;
    this.#keys.writes.set(new Map([[addressingName, 'hidden']]));
  }

  /** Notes the address at which a message reached a contact whose other one was refused. */
  async noteReached(contact: ContactAddress, address: string): Promise<void> {
    const { hidden } = await this.#addressesOf(contact);
    if (hidden !== null) this.#note(hidden, address === hidden);
  }

  /** Drops changes under way of users whose credentials are being deleted. @param users their digits */
  forget(users: readonly string[]): void {
    for (const change of this.#underWay) change.isDropped ||= users.includes(change.user);
  }

  #note(hidden: string, isUsed: boolean): void {
    this.#addressing.delete(hidden);
    this.#addressing.set(hidden, isUsed);
    const [oldest] = this.#addressing.keys();
    if (this.#addressing.size > remembered && oldest) this.#addressing.delete(oldest);
  }

  async #addressesOf({ phone, networkId }: ContactAddress): Promise<{
    readonly shown: string | null;
    readonly hidden: string | null;
  }> {
    const shown = phone === null ? null : await this.#addressOf(phone);
    const hidden = hiddenIdOf(networkId) ?? hiddenIdOf(shown) ?? (await this.#hiddenIdOf(shown));
    return { shown, hidden };
  }

  /** An account does not change back on the network. */
  async #isAddressedByHiddenIds(): Promise<boolean> {
    if (this.#hiddenIds !== null) return this.#hiddenIds;
    const stored = (await this.#keys.writes.get([addressingName])).has(addressingName);
    this.#hiddenIds ??= stored;
    return this.#hiddenIds;
  }

  async #addressOf(phone: string): Promise<string | null> {
    const { address, phone: known } = await this.#entry(phone);
    if (known !== undefined && known !== phone) await this.#change(phone, () => ({ phone }));
    if (address !== undefined) return address;
    const plain = addressOfPhone(phone);
    // A number with a hidden id is one that the network has named itself.
    return (await this.#hiddenIdOf(plain)) === null ? null : plain;
  }

  /** From what is stored: the library's own call would ask the network. */
  async #hiddenIdOf(address: string | null): Promise<string | null> {
    if (phoneOfAddress(address) === null) return null;
    const user = userOf(address ?? '');
    const hidden = (await this.#keys.get('lid-mapping', [user]))[user];
    if (hidden === undefined) return null;
    // A number keeps the hidden id of whoever had it before: theirs is another one by now.
    const back = `${hidden}_reverse`;
    const owner = (await this.#keys.get('lid-mapping', [back]))[back];
    return owner === user ? hiddenIdOf(`${hidden}@lid`) : null;
  }

  async #phoneBehind(hidden: string | null): Promise<string | null> {
    if (hidden === null) return null;
    const address = await this.#socket.signalRepository.lidMapping.getPNForLID(hidden);
    // A hidden id keeps the number it had before: that may be somebody else's by now.
    return (await this.#hiddenIdOf(address)) === hiddenIdOf(hidden)
      ? phoneOfAddress(address)
      : null;
  }

  async #entry(address: string): Promise<Entry> {
    const name = entryName(address);
    const text = (await this.#keys.writes.get([name])).get(name);
    // Written by `#change`, and nobody else writes under this name.
    return text === undefined ? {} : (JSON.parse(text) as Entry);
  }

  /**
   * Changes of entries run one after the other: each reads the entry, then writes it.
   * @returns false when the contact was erased meanwhile
   */
  async #change(address: string, changed: (before: Entry) => Entry): Promise<boolean> {
    const own: Change = { user: userOf(address.replace('+', '')), isDropped: false };
    this.#underWay.add(own);
    const change = this.#changes.then(async () => {
      const before = await this.#entry(address);
      if (own.isDropped) return;
      const after = JSON.stringify({ ...before, ...changed(before) });
      if (after === JSON.stringify(before)) return;
      this.#keys.writes.set(new Map([[entryName(address), after]]));
    });
    this.#changes = change.catch(() => undefined);
    await change.finally(() => this.#underWay.delete(own));
    return !own.isDropped;
  }
}

/**
 * The name of an entry.
 * @param address a phone number or a hidden id
 */
export function entryName(address: string): string {
  return `contact:${address.replace('+', '')}`;
}

/** An address of either kind, without a device. */
function addressOf(address: string): string | null {
  const phone = phoneOfAddress(address);
  return phone === null ? hiddenIdOf(address) : addressOfPhone(phone);
}
