import type { CredentialStore } from '../../core/contracts/driver.ts';

/** A value, or null for one that is not there. */
type Value = string | null;

type Stored = ReturnType<CredentialStore['get']>;

/** Names that are gathered for the next read, and the answer to that read. */
interface Gathering {
  readonly names: Set<string>;
  readonly stored: Stored;
}

/**
 * Reads of the store beside writes. The reads of one turn are gathered into one, as the library asks for each contact
 * of an address book by itself.
 */
export class CredentialReads {
  readonly #read: (names: readonly string[]) => Stored;
  readonly #changeOf: (name: string) => Value | undefined;
  readonly #untilItWorks: (work: () => Stored) => Stored;
  /** For each read under way: its names, and what was written under them meanwhile. */
  readonly #underWay = new Set<Map<string, Value | undefined>>();
  #gathering: Gathering | null = null;

  /**
   * @param changeOf a change that is not written yet; undefined without one
   * @param untilItWorks repeats a read that fails
   */
  constructor(
    store: Pick<CredentialStore, 'get'>,
    changeOf: (name: string) => Value | undefined,
    untilItWorks: (work: () => Stored) => Stored,
  ) {
    this.#read = (names) => store.get(names);
    this.#changeOf = changeOf;
    this.#untilItWorks = untilItWorks;
  }

  /**
   * What is stored under each name. A change that came while the store was asked is newer, also when it is written by now.
   * @throws Error what `untilItWorks` gives up with
   */
  async get(names: readonly string[]): Promise<ReadonlyMap<string, Value>> {
    const written = new Map<string, Value | undefined>(names.map((name) => [name, undefined]));
    this.#underWay.add(written);
    try {
      // By itself after a failure: a value of another reader may be one that cannot be opened.
      const stored = await this.#gathered(names).catch(() =>
        this.#untilItWorks(() => this.#read(names)),
      );
      const newest = (name: string): Value => {
        const change = this.#changeOf(name);
        const newer = change === undefined ? written.get(name) : change;
        return newer === undefined ? (stored[name] ?? null) : newer;
      };
      return new Map(names.map((name) => [name, newest(name)]));
    } finally {
      this.#underWay.delete(written);
    }
  }

  /** Notes values that are stored from now on, for the reads under way. */
  noteWritten(values: ReadonlyMap<string, Value>): void {
    for (const written of this.#underWay) {
      for (const name of written.keys()) {
        if (values.has(name)) written.set(name, values.get(name));
      }
    }
  }

  #gathered(names: readonly string[]): Stored {
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
