import { AsyncLocalStorage } from 'node:async_hooks';
import type { CredentialStore } from '../../core/contracts/driver.ts';

/** A value, or null for one that is deleted. */
type Value = string | null;

/** Takes changes back; see `CredentialWrites.hold`. */
export interface Hold {
  /** Does something whose changes belong to this hold. */
  run<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Lets changes be written again. */
  release(): void;
  /** Forgets the changes of this hold that nothing was built upon since, then releases. */
  undo(): void;
}

/** What the changes of one hold replaced, by name. */
type Replaced = Map<string, { readonly before: Value | undefined; readonly after: Value }>;

/** The hold on whose behalf something is running: work for others goes on meanwhile. */
const holding = new AsyncLocalStorage<Replaced>();

/** How many values that were read are remembered. */
const remembered = 64;

/**
 * An account's credentials with a memory in front: reads see every change at once, and changes are written
 * together, all or none, without a timer: what comes while a write is under way forms the next one. While
 * something is held nothing is written, so that what led to a change can become durable before the change.
 */
export class CredentialWrites {
  readonly #store: CredentialStore;
  readonly #changed = new Map<string, Value>();
  readonly #read = new Map<string, Value>();
  #writing: ReadonlyMap<string, Value> = new Map();
  #write: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #holds = 0;
  #released: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;
  #closed = false;

  constructor(store: CredentialStore) {
    this.#store = store;
  }

  /** The values by name; a name without one is left out. */
  async get(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const missing: string[] = [];
    for (const name of names) {
      const value = this.#known(name);
      if (value === undefined) missing.push(name);
      else if (value !== null) found.set(name, value);
    }
    if (missing.length === 0) return found;
    const stored = await this.#store.get(missing);
    for (const name of missing) {
      // A change that came while the store was asked is newer than its answer.
      const value = this.#known(name) ?? stored[name] ?? null;
      if (names.length === 1) this.#remember(name, value);
      if (value !== null) found.set(name, value);
    }
    return found;
  }

  /** Changes values at once for every reader; `durable` says when they are written. */
  set(values: ReadonlyMap<string, Value>): void {
    const replaced = holding.getStore();
    for (const [name, value] of values) {
      const first = replaced?.get(name);
      const before = first === undefined ? this.#changed.get(name) : first.before;
      replaced?.set(name, { before, after: value });
      this.#changed.set(name, value);
      this.#read.delete(name);
    }
    setImmediate(() => void this.durable().catch(() => undefined));
  }

  /**
   * Resolves when all changes so far are written.
   * @throws Error when they could not be: they stay, and the next call tries again
   */
  durable(): Promise<void> {
    if (this.#changed.size === 0) return this.#write;
    this.#next ??= this.#turn();
    return this.#next;
  }

  /** Keeps everything back until released. */
  hold(): Hold {
    if (this.#holds === 0) {
      this.#released = new Promise((resolve) => {
        this.#release = resolve;
      });
    }
    this.#holds += 1;
    const own: Replaced = new Map();
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      if (this.#holds === 0) this.#release();
    };
    return {
      run: (work) => holding.run(own, work),
      release,
      undo: () => {
        for (const [name, { before, after }] of own) {
          if (this.#changed.get(name) !== after) continue;
          if (before === undefined) this.#changed.delete(name);
          else this.#changed.set(name, before);
        }
        release();
      },
    };
  }

  /** Nothing is written any more: what was not yet is forgotten. Synchronous. */
  close(): void {
    this.#closed = true;
    this.#changed.clear();
    this.#release();
  }

  #known(name: string): Value | undefined {
    if (this.#changed.has(name)) return this.#changed.get(name);
    if (this.#writing.has(name)) return this.#writing.get(name);
    return this.#read.get(name);
  }

  #remember(name: string, value: Value): void {
    this.#read.delete(name);
    this.#read.set(name, value);
    const [oldest] = this.#read.keys();
    if (this.#read.size > remembered && oldest !== undefined) this.#read.delete(oldest);
  }

  async #turn(): Promise<void> {
    await this.#write.catch(() => undefined);
    while (this.#holds > 0 && !this.#closed) await this.#released;
    this.#next = null;
    this.#write = this.#writeChanges();
    await this.#write;
  }

  async #writeChanges(): Promise<void> {
    if (this.#closed) throw new Error('the session is closed');
    const values = new Map(this.#changed);
    if (values.size === 0) return;
    this.#changed.clear();
    this.#writing = values;
    try {
      await this.#store.set(Object.fromEntries(values));
      const few = values.size <= remembered;
      if (few) for (const [name, value] of values) this.#remember(name, value);
    } catch (error) {
      for (const [name, value] of values) {
        if (!this.#changed.has(name) && !this.#closed) this.#changed.set(name, value);
      }
      throw error;
    } finally {
      this.#writing = new Map();
    }
  }
}
