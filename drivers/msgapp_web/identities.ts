import type { DriverContact, DriverEvent, DriverLog } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import { addressOfPhone, phoneOfAddress, userOf } from './addresses.ts';
import { keptName } from './awaited.ts';
import type { ContactBook } from './contact-book.ts';
import type { Erased } from './erased.ts';
import { errorText } from './error-text.ts';
import { contactsEvents, type LibraryContact, personOf } from './imports.ts';
import type { LibrarySocket } from './library.ts';

/** How many contacts' latest names are remembered. */
const remembered = 10_000;
/** The credential that lists the others, whose names begin alike: each keeps one saved contact until the gateway has taken it. */
export const savedContactsName = 'saved_contacts';

/** A saved contact under the library's id. */
type SavedContact = readonly [string, LibraryContact];

/** What it is made of. */
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
  /** Saved contacts that the gateway has not taken yet, by the library's id. */
  #unreported = new Map<string, LibraryContact>();
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
    socket.ev.on('contacts.upsert', (contacts) => this.#listed(contacts));
  }

  /** Hands over the saved contacts that were left from an earlier connection. */
  async start(): Promise<void> {
    const { keys, erased } = this.#parts;
    const { writes, imports } = keys;
    if (!imports.contacts) return;
    await erased.load();
    const list = (await writes.get([savedContactsName])).get(savedContactsName);
    // Written by `#save`, and nobody else writes under these names.
    const names = list === undefined ? [] : (JSON.parse(list) as string[]);
    const stored = [...(await writes.get(names)).values()];
    const left = stored.map((text) => JSON.parse(text) as SavedContact);
    // What came before the marks were loaded.
    const fresh = [...this.#unreported].filter(([, contact]) => !this.#isErased(contact));
    this.#unreported = new Map([...left, ...fresh]);
    this.#started = true;
    if (this.#unreported.size > 0) this.#reportSaved();
  }

  close(): void {
    this.#over = true;
  }

  /** Drops these users, by their digits. */
  forget(users: readonly string[]): void {
    const dropped = [...this.#unreported].filter(([, { id, lid, phoneNumber }]) =>
      [id, lid, phoneNumber].some((address) => users.includes(userOf(address ?? ''))),
    );
    this.#remove(dropped);
  }

  /** Notes the name that a message has brought already. */
  note({ phone, networkId, name }: DriverContact): void {
    const place = phone ?? networkId;
    if (place === null || name === null) return;
    this.#names.delete(place);
    this.#names.set(place, name);
    const [oldest] = this.#names.keys();
    if (this.#names.size > remembered && oldest) this.#names.delete(oldest);
  }

  /**
   * Tells a contact's name, unless it was the latest. The library's own word of it is of no use: it comes behind the
   * message that brought it, and may be older than what is known by then.
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
  #listed(contacts: readonly LibraryContact[]): void {
    if (!this.#parts.keys.imports.contacts) return;
    for (const { id, lid, phoneNumber, name } of contacts) {
      const saved = { id, lid, phoneNumber, name };
      if (id && name && !this.#isErased(saved)) this.#unreported.set(id, saved);
    }
    if (this.#started && this.#unreported.size > 0) this.#reportSaved();
  }

  /** Saved contacts are stored before they are handed over: the library reads each only once. */
  #reportSaved(): void {
    this.#save(this.#unreported.keys());
    this.#next(async () => {
      const { keys, book, emit } = this.#parts;
      const contacts = [...this.#unreported];
      const saved: (readonly [SavedContact, DriverContact])[] = [];
      for (const one of contacts) {
        const [, contact] = one;
        const person = await personOf(book, contact);
        if (person === null || !contact.name || !this.#isCurrent(one)) continue;
        await book.keepName(person, contact.name);
        saved.push([one, { ...person, name: contact.name }]);
      }
      await keys.writes.durable();
      for (const event of contactsEvents(this.#currentOf(saved))) await emit(event);
      this.#remove(contacts.filter((one) => this.#isCurrent(one)));
    });
  }

  /** False once a saved contact was erased or changed. */
  #isCurrent([id, contact]: SavedContact): boolean {
    return this.#unreported.get(id) === contact;
  }

  /** The contacts whose saved contact is current when each is read. */
  *#currentOf(saved: readonly (readonly [SavedContact, DriverContact])[]): Iterable<DriverContact> {
    for (const [one, contact] of saved) if (this.#isCurrent(one)) yield contact;
  }

  #remove(contacts: readonly SavedContact[]): void {
    const ids = contacts.map(([id]) => id);
    for (const id of ids) this.#unreported.delete(id);
    if (ids.length > 0) this.#save(ids);
  }

  /** Writes what is known of saved contacts, or that nothing is. @param ids the library's, of those that have changed */
  #save(ids: Iterable<string>): void {
    const names = [...this.#unreported.keys()].map(nameOf);
    const values = new Map<string, string | null>();
    for (const id of ids) {
      const contact = this.#unreported.get(id);
      values.set(nameOf(id), contact === undefined ? null : JSON.stringify([id, contact]));
    }
    values.set(savedContactsName, names.length === 0 ? null : JSON.stringify(names));
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

function nameOf(id: string): string {
  return keptName(`${savedContactsName}:`, id);
}
