import type { CredentialStore } from '../../core/contracts/driver.ts';

type Stored = ReturnType<CredentialStore['get']>;

/** One read, and what it is going to ask for. */
interface Gathering {
  readonly names: Set<string>;
  readonly stored: Stored;
}

/** Reads credentials once for all that ask in one turn, as the library asks for each contact of a book by itself. */
export class GatheredReads {
  readonly #read: CredentialStore['get'];
  #gathering: Gathering | null = null;

  constructor(read: CredentialStore['get']) {
    this.#read = read;
  }

  /** What is stored under these names, and under those of others. @throws what the read throws, to all that ask */
  get(names: readonly string[]): Stored {
    this.#gathering ??= this.#gather();
    for (const name of names) this.#gathering.names.add(name);
    return this.#gathering.stored;
  }

  #gather(): Gathering {
    const names = new Set<string>();
    const stored = Promise.resolve().then(() => {
      this.#gathering = null;
      return this.#read([...names]);
    });
    return { names, stored };
  }
}
