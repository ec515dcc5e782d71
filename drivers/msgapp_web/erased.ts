import { hash } from 'node:crypto';
import type {
  CredentialStore,
  DriverEvent,
  Port,
  StoredCredentials,
} from '../../core/contracts/driver.ts';
import { isImporting, linkName } from './account-keys.ts';
import { userOf } from './addresses.ts';
import { CredentialWrites } from './credential-writes.ts';

/** Credential with a list of first characters of marks; `erased:` and these characters name the credential of the marks. */
const erasedName = 'erased';
/** Number of first characters by which marks share a credential: an erasure writes one in 256 of the marks. */
const beginning = 2;

/** All marks of one person. */
type Person = ReadonlySet<string>;

/**
 * Erased contacts of one link. The phone still names them, in its address book and its past; a message or a send alone
 * brings one back. The marks of each are hashes of the digits of numbers and hidden ids.
 */
export class Erased {
  readonly #credentials: CredentialStore;
  #writes: CredentialWrites;
  /** By the beginning of a mark, then by the mark. */
  readonly #people = new Map<string, Map<string, Person>>();
  #loading: Promise<void> | null = null;

  constructor(credentials: CredentialStore) {
    this.#credentials = credentials;
    this.#writes = new CredentialWrites(credentials);
  }

  /** Begins anew for a new link, whose store is empty. */
  reset(): void {
    this.#writes.close();
    this.#writes = new CredentialWrites(this.#credentials);
    this.#people.clear();
    this.#loading = null;
  }

  /** Nothing is written any more. Synchronous. */
  close(): void {
    this.#writes.close();
  }

  /** Loads what is stored, once. @throws Error when the session is closed meanwhile */
  async load(): Promise<void> {
    this.#loading ??= this.#load();
    await this.#loading;
  }

  /** Whether one of these numbers or addresses is of an erased person, as far as the marks are loaded. */
  has(addresses: readonly (string | null | undefined)[]): boolean {
    return this.#marksWith(addresses).length > 0;
  }

  /** Marks a person at once; the marks are stored a moment later. @param users digits of numbers and hidden ids */
  add(users: readonly string[]): void {
    if (users.length === 0) return;
    const marks = marksOf(users);
    this.#merge(marks);
    void this.#store(marks).catch(() => undefined);
  }

  /** Somebody writes or is written to: the marks of the person are taken away. */
  async meet(addresses: readonly (string | null | undefined)[]): Promise<void> {
    await this.load();
    const marks = this.#marksWith(addresses);
    for (const mark of marks) {
      const people = this.#people.get(beginningOf(mark));
      people?.delete(mark);
      if (people?.size === 0) this.#people.delete(beginningOf(mark));
    }
    if (marks.length > 0) this.#note(marks);
  }

  /** Emits an event. Until that is durable an erasure may mark who wrote the message: the marks are taken away. */
  async emit(port: Pick<Port, 'emit'>, event: DriverEvent): Promise<void> {
    await port.emit(event);
    if (event.type === 'message') await this.meet([event.from.phone, event.from.networkId]);
  }

  async #store(marks: readonly string[]): Promise<void> {
    // Marks that are stored already would be written over.
    await this.load();
    const link = (await this.#writes.get([linkName])).get(linkName);
    if (isImporting(link)) this.#note(this.#withOthers(marks));
    // A link that imports nothing brings nobody back.
    else this.#people.clear();
  }

  async #load(): Promise<void> {
    const writes = this.#writes;
    const list = (await writes.get([erasedName])).get(erasedName);
    // Written by `#note`, and nobody else writes under this name.
    const names = list === undefined ? [] : (JSON.parse(list) as string[]).map(nameOf);
    const texts = await writes.get(names);
    if (this.#writes !== writes) return;
    for (const text of texts.values()) for (const marks of peopleIn(text)) this.#merge(marks);
  }

  #merge(marks: readonly string[]): void {
    const person: Person = new Set(this.#withOthers(marks));
    for (const mark of person) {
      const people = this.#people.get(beginningOf(mark)) ?? new Map<string, Person>();
      this.#people.set(beginningOf(mark), people.set(mark, person));
    }
  }

  /** All marks of the people of whom one of these addresses is. */
  #marksWith(addresses: readonly (string | null | undefined)[]): readonly string[] {
    // No hash is computed where nobody is erased.
    if (this.#people.size === 0) return [];
    return marksOf(addresses).flatMap((mark) => this.#marksOfSame(mark));
  }

  /** These marks, and all others of the same people. */
  #withOthers(marks: readonly string[]): readonly string[] {
    return marks.flatMap((mark) => [mark, ...this.#marksOfSame(mark)]);
  }

  #marksOfSame(mark: string): readonly string[] {
    return [...(this.#people.get(beginningOf(mark))?.get(mark) ?? [])];
  }

  /** Writes the credentials of these marks. */
  #note(marks: readonly string[]): void {
    const list = [...this.#people.keys()];
    const values = new Map([[erasedName, list.length === 0 ? null : JSON.stringify(list)]]);
    for (const begun of new Set(marks.map(beginningOf))) {
      const people = new Set(this.#people.get(begun)?.values());
      const text = JSON.stringify([...people].map((person) => [...person]));
      values.set(nameOf(begun), people.size === 0 ? null : text);
    }
    this.#writes.set(values);
    void this.#writes.surelyDurable().catch(() => undefined);
  }
}

/** Unmarked users: a person's numbers and hidden ids that an importing link has not marked as erased yet. */
export async function unmarked<User extends { readonly digits: string }>(
  users: readonly User[],
  stored: Pick<StoredCredentials, 'get'>,
): Promise<readonly User[]> {
  const marks = marksOf(users.map(({ digits }) => digits));
  const names = [...new Set(marks.map((mark) => nameOf(beginningOf(mark))))];
  const { [linkName]: link, ...texts } = await stored.get([linkName, ...names]);
  if (!isImporting(link)) return [];
  const known = new Set(Object.values(texts).flatMap((text) => peopleIn(text).flat()));
  return users.filter(({ digits }) => !marksOf([digits]).some((mark) => known.has(mark)));
}

/** What `Erased` has stored, and nobody else writes under such a name. */
function peopleIn(text: string): readonly (readonly string[])[] {
  return JSON.parse(text) as string[][];
}

function nameOf(begun: string): string {
  return `${erasedName}:${begun}`;
}

function beginningOf(mark: string): string {
  return mark.slice(0, beginning);
}

function marksOf(addresses: readonly (string | null | undefined)[]): readonly string[] {
  const users = new Set(addresses.map((address) => userOf((address ?? '').replace('+', ''))));
  users.delete('');
  // Hexadecimal, so that the beginnings are few.
  return [...users].map((user) => hash('sha256', `erased:${user}`, 'hex').slice(0, 24));
}
