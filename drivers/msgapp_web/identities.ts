import type { BinaryNode } from 'baileys';
import type { DriverContact, DriverEvent, DriverLog } from '../../core/contracts/driver.ts';
import type { AccountKeys } from './account-keys.ts';
import { addressOfPhone, phoneOfAddress, userOf } from './addresses.ts';
import { keptName } from './awaited.ts';
import type { ContactBook } from './contact-book.ts';
import { errorText } from './error-text.ts';
import { contactsEvents, type LibraryContact, personOf } from './imports.ts';
import type { LibrarySocket } from './library.ts';

/** How many contacts' latest names are remembered. */
const remembered = 10_000;
/** The credential that lists the others, whose names begin alike: each keeps one saved contact until the gateway has taken it. */
export const savedContactsName = 'saved_contacts';

/** The collection of the phone's settings that holds its address book. */
const addressBook = 'critical_unblock_low';
/** All collections. */
const collections = [
  'critical_block',
  addressBook,
  'regular_high',
  'regular_low',
  'regular',
] as const;
type Collection = (typeof collections)[number];

/** A saved contact under the library's id. */
type SavedContact = readonly [string, LibraryContact];

/** What it is made of. */
export interface IdentityParts {
  readonly keys: AccountKeys;
  readonly book: ContactBook;
  readonly log: DriverLog;
  readonly accountId: string;
  /** Resolves once the event is durable. */
  emit(event: DriverEvent): Promise<void>;
}

/** Contact data outside of messages: hidden ids, names, the phone's address book. */
export class Identities {
  readonly #parts: IdentityParts;
  readonly #socket: LibrarySocket;
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
    this.#socket = socket;
    this.#work = opened;
    parts.keys.onPair = (number, hidden) => {
      this.#next(() => this.#paired(addressOfPhone(number), `${hidden}@lid`));
    };
    socket.ev.on('contacts.upsert', (contacts) => this.#listed(contacts));
    socket.ev.on('creds.update', ({ myAppStateKeyId }) => {
      if (myAppStateKeyId !== undefined) void this.#readAddressBook();
    });
  }

  /** Hands over the saved contacts that were left from an earlier connection. */
  async start(): Promise<void> {
    const { writes, imports } = this.#parts.keys;
    if (!imports.contacts) return;
    const list = (await writes.get([savedContactsName])).get(savedContactsName);
    // Written by `#save`, and nobody else writes under these names.
    const names = list === undefined ? [] : (JSON.parse(list) as string[]);
    const stored = [...(await writes.get(names)).values()];
    const left = stored.map((text) => JSON.parse(text) as SavedContact);
    this.#unreported = new Map([...left, ...this.#unreported]);
    this.#started = true;
    if (this.#unreported.size > 0) this.#reportSaved();
    void this.#readAddressBook();
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

  /** The address book, or a change in it: of no concern unless it was asked for. */
  #listed(contacts: readonly LibraryContact[]): void {
    if (!this.#parts.keys.imports.contacts) return;
    for (const { id, lid, phoneNumber, name } of contacts) {
      if (id && name) this.#unreported.set(id, { id, lid, phoneNumber, name });
    }
    if (this.#started && this.#unreported.size > 0) this.#reportSaved();
  }

  /**
   * Reads collections of the phone's settings that have changed, in place of the library, which would delay sends until the
   * network answers. The change is acknowledged once what came of it is durable, and offered again otherwise.
   */
  async changed(node: BinaryNode, changes: readonly Collection[]): Promise<void> {
    const { keys, log, accountId } = this.#parts;
    try {
      await this.#read(() => this.#socket.resyncAppState(changes, false));
      await keys.writes.surelyDurable();
      await this.#socket.sendMessageAck(node);
    } catch (error) {
      if (this.#over) return;
      const facts = { accountId, error: errorText(error) };
      log.warn(facts, 'changed settings could not be read: the network will offer them again');
    }
  }

  /** Reads the address book for the first time: the library does it only with a history that comes in the first 20 s. */
  async #readAddressBook(): Promise<void> {
    const { keys, log, accountId } = this.#parts;
    if (!keys.imports.contacts || keys.login.myAppStateKeyId === undefined) return;
    const stored = this.#socket.authState.keys;
    try {
      await this.#read(async () => {
        const versions = await stored.get('app-state-sync-version', [addressBook]);
        if (versions[addressBook] !== undefined || this.#over) return;
        await this.#socket.resyncAppState([addressBook], true);
      });
    } catch (error) {
      if (this.#over) return;
      const facts = { accountId, error: errorText(error) };
      log.warn(facts, 'the address book could not be read: the next connection tries again');
    }
  }

  /**
   * Runs a read of settings. A transaction of its own name delays no send, and what the library keeps back is stored before
   * the transaction ends, hence before the version that says that they were read.
   */
  async #read(work: () => Promise<void>): Promise<void> {
    await this.#socket.authState.keys.transaction(async () => {
      await work();
      // Its events are lost: so is the version.
      if (this.#over) throw new Error('the connection is over');
      this.#socket.ev.flush();
    }, 'address book');
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

/** The collections of the phone's settings that a notification says have changed. Pure. */
export function changedCollections({ attrs, content }: BinaryNode): readonly Collection[] {
  if (attrs.type !== 'server_sync' || !Array.isArray(content)) return [];
  const named = content.flatMap((one) => (one.tag === 'collection' ? one.attrs.name : []));
  return collections.filter((one) => named.includes(one));
}

function nameOf(id: string): string {
  return keptName(`${savedContactsName}:`, id);
}
