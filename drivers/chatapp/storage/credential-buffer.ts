import type { CredentialStore } from '../../../core/contracts/driver.ts';

/**
 * Buffer of writes to the account's credentials. Changes gather until `write`, which stores all of them or none; a
 * failed write keeps them for the next. One write at a time.
 */
export class CredentialBuffer {
  readonly #store: CredentialStore;
  #changes = new Map<string, string | null>();
  #writing: Promise<void> = Promise.resolve();

  constructor(store: CredentialStore) {
    this.#store = store;
  }

  /** Notes a value; null deletes it. */
  put(name: string, value: string | null): void {
    this.#changes.set(name, value);
  }

  /** Whether something was noted that no write has taken yet. */
  get hasChanges(): boolean {
    return this.#changes.size > 0;
  }

  /** Reads values as they will be once everything is written. */
  async get(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const noted = new Map(this.#changes);
    const missing = names.filter((name) => !noted.has(name));
    const stored = missing.length === 0 ? {} : await this.#store.get(missing);
    const found = new Map<string, string>();
    for (const name of names) {
      const value = noted.has(name) ? noted.get(name) : stored[name];
      if (typeof value === 'string') found.set(name, value);
    }
    return found;
  }

  /** Stores what was noted so far. @throws when the session lost its lease or the database is away */
  write(): Promise<void> {
    const turn = this.#writing.catch(() => undefined).then(() => this.#write());
    this.#writing = turn;
    turn.catch(() => undefined);
    return turn;
  }

  async #write(): Promise<void> {
    if (this.#changes.size === 0) return;
    const changes = this.#changes;
    this.#changes = new Map();
    try {
      await this.#store.set(Object.fromEntries(changes));
    } catch (error) {
      this.#changes = new Map([...changes, ...this.#changes]);
      throw error;
    }
  }
}
