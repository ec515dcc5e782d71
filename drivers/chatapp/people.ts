import type { tl } from '@mtcute/core';
import { LRUCache } from 'lru-cache';
import { Erased } from './erased.ts';
import {
  isNamedAlike,
  isSame,
  type Person,
  type PersonChange,
  personName,
  personOf,
} from './person.ts';
import type { CredentialBuffer } from './storage/credential-buffer.ts';

/** The credential of when the address book was taken, in milliseconds since the Unix epoch. */
const importedName = 'address_book';
/** How many people are kept in memory; the others are read again. */
const cacheSize = 500;

/**
 * The address cache of an account: everybody it has met, stored as one credential each. A change is reported again
 * until `keep` stores it, so a failed event is repeated.
 */
export class People {
  readonly #buffer: CredentialBuffer;
  /** The stored people. */
  readonly #cache = new LRUCache<number, Person>({
    // Not `max`, which reserves memory for so many with each account.
    maxSize: cacheSize,
    sizeCalculation: () => 1,
  });
  /** The last changes of people that are not stored yet. */
  readonly #changed = new Map<number, PersonChange>();
  readonly #erased: Erased;
  #areImported = false;

  constructor(buffer: CredentialBuffer) {
    this.#buffer = buffer;
    this.#erased = new Erased(buffer);
  }

  /** Whether the link has taken the address book before; known once `take` has resolved. */
  get areImported(): boolean {
    return this.#areImported;
  }

  /** The address book was taken: stored with the next write. */
  imported(): void {
    if (!this.#areImported) this.#buffer.put(importedName, String(Date.now()));
    this.#areImported = true;
  }

  /** Compares users of the network with the stored people; answers those who differ, but for the erased. */
  async take(users: readonly tl.TypeUser[]): Promise<readonly PersonChange[]> {
    await this.#erased.load();
    if (!this.#areImported && (await this.#buffer.get([importedName])).has(importedName)) {
      this.#areImported = true;
    }
    const given = users.filter((user) => user._ === 'user' && !user.min);
    const kept = await this.#kept(given.map(({ id }) => id));
    return given.flatMap((user) => {
      const before = kept.get(user.id);
      const person = personOf(user, this.#changed.get(user.id)?.person ?? before ?? null);
      return person === null ? [] : (this.#changeTo(person, before) ?? []);
    });
  }

  /** Changes a known person; null when that changes nothing. */
  async change(id: number, change: Partial<Person>): Promise<PersonChange | null> {
    const kept = (await this.#kept([id])).get(id);
    const before = this.#changed.get(id)?.person ?? kept;
    if (before === undefined) return null;
    return this.#changeTo({ ...before, ...change }, kept);
  }

  /** Stores changed people with the next write. Called once the gateway has their events. */
  keep(changes: Iterable<PersonChange>): void {
    for (const { person } of changes) {
      if (this.#erased.has(person.id)) continue;
      this.#cache.set(person.id, person);
      this.#buffer.put(personName(person.id), JSON.stringify(person));
      // Not when the person has changed again meanwhile.
      if (this.#changed.get(person.id)?.person === person) this.#changed.delete(person.id);
    }
  }

  /**
   * Drops somebody from memory whose credentials are being deleted. Until `meet` no change of the person is reported, nor
   * kept.
   */
  forget(id: number): void {
    this.#cache.delete(id);
    this.#changed.delete(id);
    this.#erased.add(id);
  }

  /** Somebody writes or is written to: an erased person is met anew. Answers what is to be kept then; else null. */
  meet(id: number): PersonChange | null {
    if (!this.#erased.has(id)) return null;
    this.#erased.delete(id);
    const change = this.#changed.get(id);
    return change === undefined ? null : { person: change.person, before: undefined };
  }

  /** Whether somebody was erased and has not been met since; known once `take` or `find` has resolved. */
  isErased(id: number): boolean {
    return this.#erased.has(id);
  }

  /** The person with this id of the network, kept or not yet, an erased one too, or null. */
  async find(id: number): Promise<Person | null> {
    await this.#erased.load();
    return this.#changed.get(id)?.person ?? (await this.#kept([id])).get(id) ?? null;
  }

  /** A change of the stored person, or back to it while another is reported. */
  #changeTo(person: Person, kept: Person | undefined): PersonChange | null {
    const reported = this.#changed.get(person.id);
    if (reported === undefined && isSame(person, kept)) return null;
    // The gateway may have stored any earlier person by now.
    const earlier = [kept, reported?.person, reported?.before];
    const before = earlier.find((one) => one !== undefined && !isNamedAlike(one, person)) ?? kept;
    const change = { person, before };
    this.#changed.set(person.id, change);
    return this.#erased.has(person.id) ? null : change;
  }

  async #kept(ids: readonly number[]): Promise<ReadonlyMap<number, Person>> {
    const found = new Map<number, Person>();
    const missing: number[] = [];
    for (const id of ids) {
      const person = this.#cache.get(id);
      if (person === undefined) missing.push(id);
      else found.set(id, person);
    }
    if (missing.length === 0) return found;
    const stored = await this.#buffer.get(missing.map(personName));
    for (const text of stored.values()) {
      // Only this class writes under these names.
      const person = JSON.parse(text) as Person;
      this.#cache.set(person.id, person);
      found.set(person.id, person);
    }
    return found;
  }
}
