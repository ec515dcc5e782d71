import type { DriverContact, DriverEvent, DriverLog } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import { addressOfPhone, phoneOfAddress, userOf } from './addresses.ts';
import { keptName } from './awaited.ts';
import type { ContactBook } from './contact-book.ts';
import type { Erased } from './erased.ts';
import { errorText } from './error-text.ts';
import { contactsEvents, type LibraryContact, personOf } from './imports.ts';
import type { LibrarySocket } from './library.ts';
import { importEndName } from './phone-settings.ts';

/** How many contacts' latest names are remembered. */
const remembered = 10_000;
/** The credential that lists the others, whose names begin alike: each keeps one saved contact until the gateway has taken it. */
export const savedContactsName = 'saved_contacts';

/** A saved contact under the library's id; `later`: changed after the import. */
type SavedContact = readonly [string, LibraryContact & { readonly later?: boolean }];

/** A saved contact under the name of its credential. */
type KeptContact = readonly [string, SavedContact];

/** Dependencies of `Identities`. */
export interface IdentityParts {
  readonly keys: AccountKeys;
  readonly book: ContactBook;
  readonly erased: Erased;
  readonly log: DriverLog;
  readonly accountId: string;
  /** Resolves once the event is durable. */
  emit(event: DriverEvent): Promise<void>;
}

/** Contact data outside of messages: hidden ids, names, what `PhoneSettings` reads of the phone's address book. */
export class Identities {
  readonly #parts: IdentityParts;
  /** By phone or network id. */
  readonly #names = new Map<string, string>();
  /** Saved contacts that the gateway has not taken yet, by the names of their credentials. */
  #unreported = new Map<string, SavedContact>();
  /** The names of those that the library has listed in this turn. */
  readonly #listed = new Set<string>();
  #started = false;
  #work: Promise<void>;
  #over = false;

  /** @param opened nothing is emitted before */
  constructor(parts: IdentityParts, socket: LibrarySocket, opened: Promise<void>) {
    this.#parts = parts;
    this.#work = opened;
    parts.keys.onPair = (number, hidden) => {
      this.#next(() => this.#paired(addressOfPhone(number), `${hidden}@lid`));
    };
    socket.ev.on('contacts.upsert', (contacts) => this.#list(contacts));
  }

  /** Hands over the saved contacts that were left from an earlier connection. */
  async start(): Promise<void> {
    const { keys, erased } = this.#parts;
    const { writes, imports } = keys;
    if (!imports.contacts) return;
    await erased.load();
    const texts = await writes.get([savedContactsName, importEndName]);
    keys.importEndsAt = Math.min(keys.importEndsAt, Number(texts.get(importEndName) ?? Infinity));
    const list = texts.get(savedContactsName);
    // Written by `#save`, and nobody else writes under these names.
    const names = list === undefined ? [] : (JSON.parse(list) as string[]);
    const stored = [...(await writes.get(names))];
    const left = stored.map(([name, text]): KeptContact => [name, JSON.parse(text)]);
    // What came before the marks were loaded.
    const fresh = [...this.#unreported].filter(([, [, contact]]) => !this.#isErased(contact));
    this.#unreported = new Map([...left, ...fresh]);
    this.#started = true;
    if (this.#unreported.size > 0) this.#reportSaved(fresh.map(([name]) => name));
  }

  close(): void {
    this.#over = true;
  }

  /** Drops these users, by their digits. */
  forget(users: readonly string[]): void {
    const dropped = [...this.#unreported].filter(([, [, { id, lid, phoneNumber }]]) =>
      [id, lid, phoneNumber].some((address) => users.includes(userOf(address ?? ''))),
    );
    this.#remove(dropped);
  }

  /** Notes the name that a message has brought already. */
  note({ phone, networkId, name }: DriverContact): void {
    const address = phone ?? networkId;
    if (address === null || name === null) return;
    this.#names.delete(address);
    this.#names.set(address, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > remembered && oldest) this.#names.delete(oldest);
  }

  /**
   * Tells a contact's name, unless it was the latest. The library's own event for the name is ignored: it comes after
   * its message and may be out of date.
   */
  async tellName(contact: DriverContact): Promise<void> {
    const { phone, networkId, name } = contact;
    if (name === null || this.#names.get(phone ?? networkId ?? '') === name) return;
    await this.#parts.emit({ type: 'identity', ...contact });
    this.note(contact);
  }

  async #paired(phone: string, hidden: string): Promise<void> {
    const { id } = this.#parts.keys.login.me ?? {};
    if (phoneOfAddress(phone) === phoneOfAddress(id)) return;
    const person = await this.#parts.book.person(phone, hidden, null);
    if (person !== null) await this.#parts.emit({ type: 'identity', ...person });
  }

  #isErased({ id, lid, phoneNumber }: LibraryContact): boolean {
    return this.#parts.erased.has([id, lid, phoneNumber]);
  }

  /** The address book, or a change in it: of no concern unless it was asked for. */
  #list(contacts: readonly LibraryContact[]): void {
    if (!this.#parts.keys.imports.contacts) return;
    for (const { id, lid, phoneNumber, name } of contacts) {
      if (!id || !name || this.#isErased({ id, lid, phoneNumber })) continue;
      const kept = keptName(`${savedContactsName}:`, id);
      const [, before] = this.#unreported.get(kept) ?? [];
      // A contact of the import that the gateway has not taken yet stays one when it is renamed.
      const later = Date.now() >= this.#parts.keys.importEndsAt && before?.later !== false;
      const saved = { id, lid, phoneNumber, name, later };
      this.#unreported.set(kept, [id, saved]);
      if (!this.#started) continue;
      // Once for a turn: the library may list each contact of a book by itself.
      if (this.#listed.size === 0) queueMicrotask(() => this.#reportListed());
      this.#listed.add(kept);
    }
  }

  #reportListed(): void {
    const changed = [...this.#listed];
    this.#listed.clear();
    this.#reportSaved(changed);
  }

  /** Saved contacts are stored before they are handed over: the library reads each only once. @param changed names */
  #reportSaved(changed: readonly string[]): void {
    this.#save(changed);
    this.#next(async () => {
      const { keys, book, emit } = this.#parts;
      const contacts = [...this.#unreported];
      const saved: (readonly [KeptContact, DriverContact])[] = [];
      for (const one of contacts) {
        const [, [, contact]] = one;
        const person = await personOf(book, contact);
        if (person === null || !contact.name || !this.#isCurrent(one)) continue;
        await book.keepName(person, contact.name);
        saved.push([one, { ...person, name: contact.name }]);
      }
      await keys.writes.durable();
      for (const later of [false, true]) {
        const some = saved.filter(([[, [, contact]]]) => (contact.later === true) === later);
        for (const event of contactsEvents(this.#currentOf(some), later)) await emit(event);
      }
      this.#remove(contacts.filter((one) => this.#isCurrent(one)));
    });
  }

  /** False once a saved contact was erased or changed. */
  #isCurrent([name, contact]: KeptContact): boolean {
    return this.#unreported.get(name) === contact;
  }

  /** The contacts whose saved contact is current when each is read. */
  *#currentOf(saved: readonly (readonly [KeptContact, DriverContact])[]): Iterable<DriverContact> {
    for (const [one, contact] of saved) if (this.#isCurrent(one)) yield contact;
  }

  #remove(contacts: readonly KeptContact[]): void {
    const names = contacts.map(([name]) => name);
    for (const name of names) this.#unreported.delete(name);
    this.#save(names);
  }

  /** Writes the saved contacts that have changed, or that the gateway has them. @param changed names */
  #save(changed: readonly string[]): void {
    if (changed.length === 0) return;
    const list = [...this.#unreported.keys()];
    const values = new Map<string, string | null>([
      [savedContactsName, list.length === 0 ? null : JSON.stringify(list)],
    ]);
    for (const name of changed) {
      const contact = this.#unreported.get(name);
      values.set(name, contact === undefined ? null : JSON.stringify(contact));
    }
    this.#parts.keys.writes.set(values);
  }

  #next(work: () => Promise<void>): void {
    this.#work = this.#work
      .then(() => (this.#over ? undefined : work()))
      .catch((error: unknown) => {
        if (this.#over) return;
        const { log, accountId } = this.#parts;
        const said = errorText(error);
        log.warn({ accountId, error: said }, 'news of a contact could not be kept');
      });
  }
}
