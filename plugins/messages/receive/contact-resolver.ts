import { longestPhone, nameKeys } from '../../../core/contact-names.ts';
import type { DriverContact } from '../../../core/contracts/driver.ts';
import type { Messages } from '../../../core/contracts/messages.ts';
import type { Unit } from '../../../core/contracts/storage.ts';
import { newId } from '../../../core/ids.ts';
import type { Contact, ContactKey } from '../../contacts/contract.ts';
import { storedNetworkId } from '../network-ids.ts';
import { type ContactFlags, flagsOfBoth, joined, olderOf, storeMerges } from './merge.ts';

// One rule for an event that names both a phone P and a network id N: N says who it is, P says where N is reached now.
//
// - Nobody has P or N: the contact is new.
// - A contact has P and no network id, or N and no phone: it gets the other of the two.
// - A contact has P and no network id, another has N: they are one person, and become one contact with P and N.
// - A contact has N and another phone, nobody has P: P takes the place of that phone.
// - A contact has P and another network id: P has changed hands. That contact loses P, and keeps its network id, its
//   messages and its flags. The contact of N, made if there is none, gets P and the flags with it.
//
// Imported contacts, history and repeated messages may be old: what would take an address from a contact is not done.

const noFlags: ContactFlags = { doNotDisturb: false, private: false, automationPaused: false };

/** Longest name that is kept, in characters. */
const longestName = 200;

/**
 * The contacts of one batch of events: those that are stored, those that are met for the first time, and those that turn
 * out to be one person. Recognise and meet while deciding, then store. The tenants are locked meanwhile.
 */
export class ContactResolver {
  readonly #now: number;
  readonly #contacts = new Map<string, Contact>();
  readonly #idsByKey = new Map<string, string>();
  readonly #added = new Set<string>();
  readonly #changed = new Set<string>();
  /** The contacts as they are in the database, by id. */
  readonly #stored: ReadonlyMap<string, Contact>;
  /** The ids of all contacts that went in this batch, each with the id of the one that stays. */
  readonly #merges = new Map<string, string>();
  /** The ids of contacts that another's private flag has come to. */
  readonly #hidden = new Set<string>();

  /**
   * @param now the database's clock
   * @param contacts all that the keys of the batch name, see `ContactTable.byKeys`
   */
  constructor(now: number, contacts: readonly Contact[]) {
    this.#now = now;
    this.#stored = new Map(contacts.map((contact) => [contact.id, contact]));
    for (const contact of contacts) this.#enter(contact);
  }

  /**
   * The stored contact of this key, after its addresses were brought up to date by the rule above.
   * @param isPresent whether the key is what the network says now; else two contacts that disagree with it stay as they
   *   are, and the private one of them is answered, or the one with the network id
   */
  recognise(key: ContactKey, isPresent: boolean): Contact | undefined {
    const { phone, networkId } = key;
    const byPhone = this.#at({ ...key, networkId: null });
    const byNetworkId = this.#at({ ...key, phone: null });
    if (phone === null || networkId === null || byPhone === byNetworkId) {
      return byPhone ?? byNetworkId;
    }
    if (byPhone === undefined) {
      const isKept = byNetworkId === undefined || (byNetworkId.phone !== null && !isPresent);
      return isKept ? byNetworkId : this.#change({ ...byNetworkId, phone });
    }
    if (byPhone.networkId !== null && isPresent) return this.#givePhone(byPhone, byNetworkId, key);
    if (byNetworkId === undefined) {
      return byPhone.networkId === null ? this.#change({ ...byPhone, networkId }) : byPhone;
    }
    if (byPhone.networkId === null && (byNetworkId.phone === null || isPresent)) {
      return this.#merge(byPhone, byNetworkId, key);
    }
    return byPhone.private ? byPhone : byNetworkId;
  }

  /** The contact of one network id has another from now on; who has that one already is the same person. */
  move(former: ContactKey, present: ContactKey): void {
    const contact = this.#at(former);
    const other = this.#at(present);
    if (contact === undefined || contact === other) return;
    const { networkId } = present;
    if (other === undefined) this.#change({ ...contact, networkId });
    else this.#merge(contact, other, { ...present, phone: contact.phone ?? other.phone });
  }

  /**
   * The contact of this key, made when it is new. Of a stored one the network's name is followed until it was set through
   * the API.
   * @param flags what a new one starts with
   */
  meet(key: ContactKey, networkName: string | null, flags: ContactFlags = noFlags): Contact {
    const stored = this.recognise(key, false);
    if (stored === undefined) return this.#add(key, storedName(networkName), flags);
    const followed = this.follow(stored, networkName);
    // A contact that the network brings is no stranger any more.
    return followed.uncounted ? this.#change({ ...followed, uncounted: false }) : followed;
  }

  /** Brings the name of a stored contact up to date, unless it was set through the API. */
  follow(contact: Contact, networkName: string | null): Contact {
    const name = storedName(networkName);
    if (name === '' || name === contact.name || contact.nameSet) return contact;
    return this.#change({ ...contact, name });
  }

  /** The contact that this id of one that `recognise` or `meet` has answered names by now. */
  byId(id: string): Contact {
    const contact = this.#contacts.get(this.#merges.get(id) ?? id);
    if (contact === undefined) throw new Error(`the contact ${id} was not loaded`);
    return contact;
  }

  /**
   * Writes all changes, mostly with COMMIT. Contacts that another's private flag has come to are forgotten, as when a
   * user sets it.
   */
  async store(unit: Unit, forget: Messages['forgetContact']): Promise<void> {
    // Before the merges: it goes by the contact whose messages they are until then.
    for (const id of this.#hidden) await forget(unit, this.byId(id).tenantId, id);
    const merges = [...this.#merges].filter(([id]) => this.#stored.has(id));
    await storeMerges(unit, new Map(merges));
    const of = (ids: ReadonlySet<string>): Contact[] =>
      [...ids].flatMap((id) => this.#contacts.get(id) ?? []);
    const changed = of(this.#changed).filter(({ id }) => this.#stored.has(id));
    // Addresses are unique, and rows are written in any order: one is given up before another contact takes it.
    await unit.contacts.save(changed.flatMap((contact) => this.#withoutGivenUp(contact)));
    const { contacts } = unit.withCommit;
    await contacts.save(changed);
    await contacts.insert(of(this.#added));
  }

  /** The stored contact without a phone or network id that it gives up; empty when the contact keeps both. */
  #withoutGivenUp({ id, phone, networkId }: Contact): Contact[] {
    const stored = this.#stored.get(id);
    if (stored === undefined) return [];
    const kept = {
      phone: stored.phone === phone ? phone : null,
      networkId: stored.networkId === networkId ? networkId : null,
    };
    const isKept = kept.phone === stored.phone && kept.networkId === stored.networkId;
    return isKept ? [] : [{ ...stored, ...kept }];
  }

  #at(contactKey: ContactKey): Contact | undefined {
    const [key = ''] = nameKeys(contactKey);
    return this.#contacts.get(this.#idsByKey.get(key) ?? '');
  }

  /** Gives the phone of one contact to the contact of the network id, which is made when there is none. */
  #givePhone(from: Contact, to: Contact | undefined, key: ContactKey): Contact {
    this.#change({ ...from, phone: null });
    // The name stays behind: it may be another person's.
    if (to === undefined) return this.#add(key, '', flagsOfBoth(from, from));
    if (from.private && !to.private) this.#hide(to.id);
    return this.#change({ ...to, ...flagsOfBoth(from, to), phone: key.phone });
  }

  #merge(one: Contact, other: Contact, { phone, networkId }: ContactKey): Contact {
    // What is made in this batch is the younger one, whatever the clocks of other processes say.
    const kept =
      this.#added.has(one.id) === this.#added.has(other.id)
        ? olderOf(one, other)
        : this.#added.has(one.id)
          ? other
          : one;
    const gone = kept === one ? other : one;
    if (kept.private !== gone.private) this.#hide(kept.private ? gone.id : kept.id);
    for (const id of this.#namesOf(gone.id)) this.#merges.set(id, kept.id);
    this.#leave(gone.id);
    this.#contacts.delete(gone.id);
    this.#added.delete(gone.id);
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

  #add(key: ContactKey, name: string, flags: ContactFlags): Contact {
    const id = newId('con', this.#now);
    const contact = {
      ...key,
      ...flags,
      id,
      name,
      nameSet: false,
      uncounted: false,
      createdAt: this.#now,
    };
    this.#enter(contact);
    this.#added.add(id);
    return contact;
  }

  #change(contact: Contact): Contact {
    this.#leave(contact.id);
    this.#enter(contact);
    this.#changed.add(contact.id);
    return contact;
  }

  #leave(id: string): void {
    const contact = this.#contacts.get(id);
    for (const key of contact === undefined ? [] : nameKeys(contact)) {
      this.#idsByKey.delete(key);
    }
  }

  #enter(contact: Contact): void {
    this.#contacts.set(contact.id, contact);
    for (const key of nameKeys(contact)) this.#idsByKey.set(key, contact.id);
  }
}

/** A name as the network says it, of whole characters: half of a surrogate pair is none. Empty when it names nobody. */
function storedName(networkName: string | null): string {
  return [...(networkName ?? '')].slice(0, longestName).join('');
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
