import { hash } from 'node:crypto';
import type { CredentialStore, StoredCredentials } from '../../core/contracts/driver.ts';
import { isImporting, linkName } from './account-keys.ts';
import { userOf } from './addresses.ts';
import { CredentialWrites } from './credential-writes.ts';

/** The name under which the marks are stored together. */
const erasedName = 'erased';

/**
 * Erased contacts of one link. The phone still names them, in its address book and its past; a message or a send alone
 * brings one back. The marks of each are hashes of the digits of numbers and hidden ids.
 */
export class Erased {
  readonly #credentials: CredentialStore;
  #writes: CredentialWrites;
  /** The marks of each person. */
  #people: readonly (readonly string[])[] = [];
  #loading: Promise<void> | null = null;

  constructor(credentials: CredentialStore) {
    this.#credentials = credentials;
    this.#writes = new CredentialWrites(credentials);
  }

  /** Begins anew for a new link, whose store is empty. */
  reset(): void {
    this.#writes.close();
    this.#writes = new CredentialWrites(this.#credentials);
    this.#people = [];
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
    if (this.#people.length === 0) return false;
    const marks = marksOf(addresses);
    return this.#people.some((person) => isAnyOf(person, marks));
  }

  /** Marks a person at once; the marks are stored a moment later. @param users digits of numbers and hidden ids */
  add(users: readonly string[]): void {
    if (users.length === 0) return;
    this.#merge(marksOf(users));
    void this.#store().catch(() => undefined);
  }

  /** Somebody writes or is written to: the marks of the person are taken away. */
  async meet(addresses: readonly (string | null | undefined)[]): Promise<void> {
    await this.load();
    if (!this.has(addresses)) return;
    const marks = marksOf(addresses);
    this.#people = this.#people.filter((person) => !isAnyOf(person, marks));
    this.#note();
  }

  async #store(): Promise<void> {
    // Else marks of before would be lost.
    await this.load();
    const link = (await this.#writes.get([linkName])).get(linkName);
    if (isImporting(link)) this.#note();
  }

  async #load(): Promise<void> {
    const text = (await this.#writes.get([erasedName])).get(erasedName);
    for (const marks of peopleIn(text)) this.#merge(marks);
  }

  #merge(marks: readonly string[]): void {
    const same = this.#people.filter((person) => isAnyOf(person, marks));
    const others = this.#people.filter((person) => !isAnyOf(person, marks));
    this.#people = [...others, [...new Set([...same.flat(), ...marks])]];
  }

  #note(): void {
    const text = this.#people.length === 0 ? null : JSON.stringify(this.#people);
    this.#writes.set(new Map([[erasedName, text]]));
    void this.#writes.surelyDurable().catch(() => undefined);
  }
}

/** Those of a person's numbers and hidden ids that a link has to mark: it imports, and has no mark of them. */
export async function unmarked<User extends { readonly digits: string }>(
  users: readonly User[],
  stored: Pick<StoredCredentials, 'get'>,
): Promise<readonly User[]> {
  const { [linkName]: link, [erasedName]: text } = await stored.get([linkName, erasedName]);
  if (!isImporting(link)) return [];
  const marks = peopleIn(text).flat();
  return users.filter(({ digits }) => !isAnyOf(marks, marksOf([digits])));
}

/** What `Erased` has stored, and nobody else writes under this name. */
function peopleIn(text: string | undefined): readonly (readonly string[])[] {
  return text === undefined ? [] : (JSON.parse(text) as string[][]);
}

function isAnyOf(some: readonly string[], others: readonly string[]): boolean {
  return some.some((one) => others.includes(one));
}

function marksOf(addresses: readonly (string | null | undefined)[]): readonly string[] {
  const users = addresses.map((address) => userOf((address ?? '').replace('+', '')));
  return users.flatMap((user) =>
    user === '' ? [] : hash('sha256', `erased:${user}`, 'base64url').slice(0, 16),
  );
}
