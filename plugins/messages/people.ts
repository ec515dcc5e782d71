import type { DriverContact } from '../../core/contracts/driver.ts';
import type { Messages } from '../../core/contracts/messages.ts';
import type { Unit } from '../../core/contracts/storage.ts';
import { newId } from '../../core/ids.ts';
import type { Contact, ContactKey } from '../contacts/contract.ts';
import { joined, olderOf, storeMerges } from './merging.ts';
import { storedNetworkId } from './network-ids.ts';

/** What a contact that is met for the first time starts with. */
export interface NewContactFlags {
  readonly private: boolean;
  readonly automationPaused: boolean;
}

const noFlags: NewContactFlags = { private: false, automationPaused: false };

/** Longest name that is kept. */
const longestName = 200;
/** Longest phone column. */
const longestPhone = 40;

/**
 * The contacts of one batch of events: those that are known, those that are met for the first time, and those that turn
 * out to be one person. Recognise and meet while deciding, then store. The tenants are locked meanwhile.
 */
export class People {
  readonly #now: number;
  readonly #contacts = new Map<string, Contact>();
  readonly #idsByPlace = new Map<string, string>();
  readonly #added = new Set<string>();
  readonly #changed = new Set<string>();
  /** The ids of all contacts that went in this batch, each with the id of the one that stays. */
  readonly #merges = new Map<string, string>();
  /** Those of them that are in the database. */
  readonly #stored = new Set<string>();
  /** Addresses that a merge gave up: nobody who is known takes them in the same batch, as their row may be written later. */
  readonly #freed = new Set<string>();
  /** Contacts that were not private before a merge made them so, as they are in the database. */
  readonly #hidden = new Set<string>();

  /**
   * @param now the database's clock
   * @param contacts all that the keys of the batch name, see `ContactTable.byKeys`
   */
  constructor(now: number, contacts: readonly Contact[]) {
    this.#now = now;
    for (const contact of contacts) this.#enter(contact);
  }

  /**
   * The known contact with this phone or network id, to which the other of the two is added where it was unknown. Two that
   * the key shows to be one person become one; two that have both already stay two, the private one of which is answered,
   * else the one with the phone.
   */
  recognise(key: ContactKey): Contact | undefined {
    const byPhone = this.#at({ ...key, networkId: null });
    const byNetworkId = this.#at({ ...key, phone: null });
    const found = byPhone ?? byNetworkId;
    if (found === undefined) return undefined;
    if (byPhone === undefined || byNetworkId === undefined || byPhone === byNetworkId) {
      return this.#completed(found, key);
    }
    if (byPhone.networkId === null || byNetworkId.phone === null) {
      return this.#merged(byPhone, byNetworkId, key);
    }
    return byNetworkId.private ? byNetworkId : byPhone;
  }

  /**
   * The contact of this key, made when it is new. Of a known one the network's name is followed until it was set through
   * the API.
   */
  meet(key: ContactKey, told: string | null, flags: NewContactFlags = noFlags): Contact {
    const known = this.recognise(key);
    const name = (told ?? '').slice(0, longestName);
    if (known === undefined) {
      const contact: Contact = {
        ...key,
        id: newId('con', this.#now),
        name,
        nameSet: false,
        doNotDisturb: false,
        ...flags,
        createdAt: this.#now,
      };
      this.#enter(contact);
      this.#added.add(contact.id);
      return contact;
    }
    if (name === '' || name === known.name || known.nameSet) return known;
    return this.#change({ ...known, name });
  }

  /** The contact that this id of one that `recognise` or `meet` has answered names by now. */
  byId(id: string): Contact {
    const contact = this.#contacts.get(this.#merges.get(id) ?? id);
    if (contact === undefined) throw new Error(`the contact ${id} was not loaded`);
    return contact;
  }

  /**
   * Writes what has become of them, mostly with COMMIT. Those that a merge made private are forgotten as if the flag had
   * been set now.
   */
  async store(unit: Unit, forget: Messages['forgetContact']): Promise<void> {
    // Before the moves: what was forgotten of the private one earlier stays as it is.
    for (const id of this.#hidden) await forget(unit, this.byId(id).tenantId, id);
    const merges = [...this.#merges].filter(([id]) => this.#stored.has(id));
    await storeMerges(unit, new Map(merges));
    const of = (ids: ReadonlySet<string>): Contact[] =>
      [...ids].flatMap((id) => this.#contacts.get(id) ?? []);
    const { contacts } = unit.withCommit;
    await contacts.save(of(this.#changed).filter(({ id }) => !this.#added.has(id)));
    await contacts.insert(of(this.#added));
  }

  #at(key: ContactKey): Contact | undefined {
    const [place = ''] = placesOf(key);
    return this.#contacts.get(this.#idsByPlace.get(place) ?? '');
  }

  #completed(contact: Contact, key: ContactKey): Contact {
    const isFree = (address: ContactKey): boolean =>
      placesOf(address).every((place) => !this.#idsByPlace.has(place) && !this.#freed.has(place));
    const phone =
      contact.phone ?? (isFree({ ...key, networkId: null }) ? key.phone : contact.phone);
    const networkId =
      contact.networkId ?? (isFree({ ...key, phone: null }) ? key.networkId : contact.networkId);
    if (phone === contact.phone && networkId === contact.networkId) return contact;
    return this.#change({ ...contact, phone, networkId });
  }

  #merged(one: Contact, other: Contact, { phone, networkId }: ContactKey): Contact {
    // What is made in this batch is the younger one, whatever the clocks of other processes say.
    const kept =
      this.#added.has(one.id) === this.#added.has(other.id)
        ? olderOf(one, other)
        : this.#added.has(one.id)
          ? other
          : one;
    const gone = kept === one ? other : one;
    for (const place of [...placesOf(one), ...placesOf(other)]) {
      this.#idsByPlace.delete(place);
      this.#freed.add(place);
    }
    if (kept.private !== gone.private) this.#hide(kept.private ? gone.id : kept.id);
    for (const id of this.#namesOf(gone.id)) this.#merges.set(id, kept.id);
    if (!this.#added.delete(gone.id)) this.#stored.add(gone.id);
    this.#contacts.delete(gone.id);
    this.#changed.delete(gone.id);
    return this.#change({ ...joined(kept, gone), phone, networkId });
  }

  #hide(id: string): void {
    for (const one of this.#namesOf(id)) this.#hidden.add(one);
  }

  /** The ids of all that became this contact in this batch, its own among them. */
  #namesOf(id: string): string[] {
    const gone = [...this.#merges].flatMap(([one, kept]) => (kept === id ? one : []));
    return [id, ...gone];
  }

  #change(contact: Contact): Contact {
    this.#enter(contact);
    this.#changed.add(contact.id);
    return contact;
  }

  #enter(contact: Contact): void {
    this.#contacts.set(contact.id, contact);
    for (const place of placesOf(contact)) this.#idsByPlace.set(place, contact.id);
  }
}

/** The key of a contact as a driver names it; null when it names it by nothing that can be stored. */
export function contactKey(
  tenantId: string,
  channel: string,
  contact: DriverContact,
): ContactKey | null {
  const fits = contact.phone !== null && contact.phone.length <= longestPhone;
  const phone = fits ? contact.phone : null;
  const networkId = contact.networkId === null ? null : storedNetworkId(contact.networkId);
  return phone === null && networkId === null ? null : { tenantId, channel, phone, networkId };
}

function placesOf({ tenantId, channel, phone, networkId }: ContactKey): string[] {
  const places: string[] = [];
  if (phone !== null) places.push(`${tenantId} ${channel} phone ${phone}`);
  if (networkId !== null) places.push(`${tenantId} ${channel} network ${networkId}`);
  return places;
}
