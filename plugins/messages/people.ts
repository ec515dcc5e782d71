import type { DriverContact } from '../../core/contracts/driver.ts';
import type { Tables } from '../../core/contracts/storage.ts';
import { newId } from '../../core/ids.ts';
import type { Contact, ContactKey } from '../contacts/contract.ts';
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
 * The contacts of one batch of events: those that are known and those that are met for the first time. Look up while
 * deciding, then store. The tenants are locked meanwhile.
 */
export class People {
  readonly #now: number;
  readonly #contacts: Map<string, Contact>;
  readonly #idsByPlace = new Map<string, string>();
  readonly #added = new Set<string>();
  readonly #changed = new Set<string>();

  /**
   * @param now the database's clock
   * @param contacts all that the keys of the batch name, see `ContactTable.byKeys`
   */
  constructor(now: number, contacts: readonly Contact[]) {
    this.#now = now;
    this.#contacts = new Map();
    for (const contact of contacts) this.#enter(contact);
  }

  /** The known contact with this phone or network id; a private one rather than another. */
  known(key: ContactKey): Contact | undefined {
    const found = placesOf(key).flatMap((place) => {
      const contact = this.#contacts.get(this.#idsByPlace.get(place) ?? '');
      return contact === undefined ? [] : [contact];
    });
    return found.find((contact) => contact.private) ?? found[0];
  }

  /**
   * The contact of this key, made when it is new. What the network tells of a known one is added where it
   * was unknown: its phone, its network id, its name.
   */
  meet(key: ContactKey, name: string | null, flags: NewContactFlags = noFlags): Contact {
    const known = this.known(key);
    if (known === undefined) {
      const contact: Contact = {
        ...key,
        id: newId('con', this.#now),
        name: (name ?? '').slice(0, longestName),
        doNotDisturb: false,
        ...flags,
        createdAt: this.#now,
      };
      this.#enter(contact);
      this.#added.add(contact.id);
      return contact;
    }
    const completed = this.#completed(known, key, name);
    if (completed !== known) {
      this.#enter(completed);
      this.#changed.add(completed.id);
    }
    return completed;
  }

  /** A contact that `known` or `meet` has answered. */
  byId(id: string): Contact {
    const contact = this.#contacts.get(id);
    if (contact === undefined) throw new Error(`the contact ${id} was not loaded`);
    return contact;
  }

  /** Writes what `meet` made and changed. */
  async store({ contacts }: Pick<Tables, 'contacts'>): Promise<void> {
    const of = (ids: ReadonlySet<string>): Contact[] =>
      [...ids].flatMap((id) => this.#contacts.get(id) ?? []);
    await contacts.insert(of(this.#added));
    await contacts.save(of(this.#changed).filter(({ id }) => !this.#added.has(id)));
  }

  #completed(contact: Contact, key: ContactKey, name: string | null): Contact {
    const free = (place: ContactKey): boolean =>
      placesOf(place).every((one) => !this.#idsByPlace.has(one));
    const phone = contact.phone ?? (free({ ...key, networkId: null }) ? key.phone : contact.phone);
    const networkId =
      contact.networkId ?? (free({ ...key, phone: null }) ? key.networkId : contact.networkId);
    const newName = contact.name === '' ? (name ?? '').slice(0, longestName) : contact.name;
    if (phone === contact.phone && networkId === contact.networkId && newName === contact.name) {
      return contact;
    }
    return { ...contact, phone, networkId, name: newName };
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
