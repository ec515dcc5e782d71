import { LRUCache } from 'lru-cache';

/** How much all sessions of a process keep in memory, in characters of names and values. */
export const cachedCharacters = 32 * 1024 * 1024;

/** What an entry takes beside its characters. */
const entrySize = 150;

/** Where a read was answered from. */
export type CredentialSource = 'cache' | 'database';

/** A value, or null where the database has none under that name. */
interface Entry {
  readonly value: string | null;
}

/** One session's part of the cache. */
export interface CachedCredentials {
  /** Undefined when it is not known what the database has. */
  get(name: string): Entry | undefined;
  /** Takes what was read. */
  put(name: string, value: string | null): void;
  /** Takes what was written, where the former value is there: whatever is written and never read stays out. */
  replace(name: string, value: string | null): void;
  delete(name: string): void;
  /** Forgets everything. */
  clear(): void;
}

/**
 * Read-through cache of opened credentials, for speed alone: a message on a network with ratchets reads four of them. One
 * bound for all sessions, the least recently used go first.
 */
export class CredentialCache {
  readonly #entries: LRUCache<string, Entry> | null;
  #parts = 0;

  /** @param characters the bound; 0 switches the cache off */
  constructor(characters: number) {
    this.#entries =
      characters === 0
        ? null
        : new LRUCache({
            maxSize: characters,
            sizeCalculation: ({ value }, key) => key.length + (value?.length ?? 0) + entrySize,
          });
  }

  /** A part that only its session sees. What a session leaves behind is not found again, and goes in time. */
  part(): CachedCredentials {
    const entries = this.#entries;
    let prefix = this.#begin();
    return {
      get: (name) => entries?.get(prefix + name),
      put: (name, value) => void entries?.set(prefix + name, { value }),
      replace: (name, value) => {
        if (entries?.has(prefix + name)) entries.set(prefix + name, { value });
      },
      delete: (name) => void entries?.delete(prefix + name),
      clear: () => {
        prefix = this.#begin();
      },
    };
  }

  #begin(): string {
    this.#parts += 1;
    return `${this.#parts} `;
  }
}
