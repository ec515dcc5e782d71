import type { CredentialStore } from '../../../core/contracts/driver.ts';

/**
 * Buffer of writes to the credentials of one link. Changes gather until `write`, which stores all of them or none; a
 * failed write keeps them for the next. One write at a time, and none once the link is cleared.
 */
export class CredentialBuffer {
  readonly #store: CredentialStore;
  #changes = new Map<string, string | null>();
  #writing: Promise<void> = Promise.resolve();
  #isCleared = false;

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
    return this.#inTurn(() => this.#write());
  }

  /**
   * Deletes everything of the account, behind the write under way. Nothing is written any more, also when this fails:
   * what was noted is of the link before.
   * @throws when the session lost its lease or the database is away
   */
  clear(): Promise<void> {
    this.#isCleared = true;
    return this.#inTurn(() => this.#store.clear());
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const turn = this.#writing.catch(() => undefined).then(run);
    this.#writing = turn;
    turn.catch(() => undefined);
    return turn;
  }

  async #write(): Promise<void> {
    if (this.#isCleared) throw new Error('the link is cleared: nothing of it is stored');
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
