import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CredentialStore } from '../../core/contracts/driver.ts';
import { CredentialReads } from './credential-reads.ts';

/** Pause before credentials that could not be read or written are tried again, in milliseconds. */
const againMs = 250;

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

/**
 * Write-behind of an account's credentials: reads see every change at once, and changes are written together, all or
 * none. Group commit: what comes while a write is under way forms the next one. A hold keeps its changes, and those
 * built upon them, back until its release, so that their cause can become durable first.
 */
export class CredentialWrites {
  readonly #store: CredentialStore;
  /** To be written. */
  readonly #changed = new Map<string, Value>();
  /** To be written once nothing is held any more; newer than `#changed`. */
  readonly #kept = new Map<string, Value>();
  /** Something outside of the holds waits for them: it was built upon their changes. */
  #builtUpon = false;
  #writing: ReadonlyMap<string, Value> = new Map();
  readonly #reads: CredentialReads;
  #write: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  readonly #holds = new Set<Replaced>();
  #released: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;
  #closed = false;

  constructor(store: CredentialStore) {
    this.#store = store;
    this.#reads = new CredentialReads(
      store,
      (name) => this.#known(name),
      (work) => this.#untilItWorks(work),
    );
  }

  /**
   * The values by name; a name without one is left out. While the store cannot be read it waits: to a cipher a key that
   * cannot be read is one that was never there.
   * @throws Error when the session is closed meanwhile
   */
  async get(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = new Map<string, string>();
    const missing: string[] = [];
    for (const name of names) {
      const value = this.#known(name);
      if (value === undefined) missing.push(name);
      else if (value !== null) found.set(name, value);
    }
    if (missing.length === 0) return found;
    for (const [name, value] of await this.#reads.get(missing)) {
      if (value !== null) found.set(name, value);
    }
    return found;
  }

  /** Changes values at once for every reader; `durable` says when they are written. */
  set(values: ReadonlyMap<string, Value>): void {
    const own = this.#ownHold();
    const upon = own === null && [...values.keys()].some((name) => this.#kept.has(name));
    this.#builtUpon ||= upon;
    const layer = own === null && !upon ? this.#changed : this.#kept;
    for (const [name, value] of values) {
      own?.set(name, { before: this.#replacedIn(own, name), after: value });
      layer.set(name, value);
    }
    if (layer === this.#changed) this.#writeSoon();
  }

  /**
   * Resolves when all changes so far are written.
   * @throws Error when they could not be: they stay, and the next call tries again
   */
  async durable(): Promise<void> {
    while (this.#kept.size > 0 && !this.#closed) await this.#released;
    await this.written();
  }

  /**
   * The same, tried until it works.
   * @throws Error when the session is closed meanwhile
   */
  async surelyDurable(): Promise<void> {
    await this.#untilItWorks(() => this.durable());
  }

  /**
   * `durable` without what waits for a hold. Callers between two writes get the same promise.
   * @throws Error as `durable` does
   */
  written(): Promise<void> {
    if (this.#closed) return Promise.reject(new Error('the session is closed'));
    if (this.#changed.size === 0) return this.#write;
    this.#next ??= this.#turn();
    return this.#next;
  }

  /** Resolves once no change from outside of the holds waits for them. */
  async unheld(): Promise<void> {
    while (this.#builtUpon && !this.#closed) await this.#released;
  }

  /** Something is kept back by a hold. */
  get keepsBack(): boolean {
    return this.#kept.size > 0;
  }

  /** Resolves once nothing of a name that this one picks is kept back. */
  async free(isPicked: (name: string) => boolean): Promise<void> {
    while (!this.#closed && [...this.#kept.keys()].some(isPicked)) await this.#released;
  }

  /** Keeps back what is changed under this hold. */
  hold(): Hold {
    if (this.#holds.size === 0) {
      this.#released = new Promise((resolve) => {
        this.#release = resolve;
      });
    }
    const own: Replaced = new Map();
    this.#holds.add(own);
    const release = (): void => {
      if (this.#holds.delete(own)) this.#letGo();
    };
    return {
      run: (work) => holding.run(own, work),
      release,
      undo: () => {
        for (const [name, { before, after }] of own) {
          if (this.#kept.get(name) !== after) continue;
          if (before === undefined) this.#kept.delete(name);
          else this.#kept.set(name, before);
        }
        release();
      },
    };
  }

  /** Nothing is written any more: what was not yet is forgotten. Synchronous. */
  close(): void {
    this.#closed = true;
    this.#changed.clear();
    this.#kept.clear();
    this.#release();
  }

  /** @throws what the last try did, once the session is closed */
  async #untilItWorks<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (this.#closed) throw error;
        await sleep(againMs);
      }
    }
  }

  #ownHold(): Replaced | null {
    const hold = holding.getStore();
    return hold !== undefined && this.#holds.has(hold) ? hold : null;
  }

  /** What `undo` puts back: never over what somebody else has built meanwhile. */
  #replacedIn(own: Replaced, name: string): Value | undefined {
    const first = own.get(name);
    const now = this.#kept.get(name);
    return first !== undefined && first.after === now ? first.before : now;
  }

  /** What was kept back is written, unless something else is held. */
  #letGo(): void {
    if (this.#holds.size > 0) {
      this.#builtUpon ||= this.#kept.size > 0;
      return;
    }
    for (const [name, value] of this.#kept) this.#changed.set(name, value);
    this.#kept.clear();
    this.#builtUpon = false;
    this.#release();
    this.#writeSoon();
  }

  #writeSoon(): void {
    setImmediate(() => void this.written().catch(() => undefined));
  }

  #known(name: string): Value | undefined {
    if (this.#kept.has(name)) return this.#kept.get(name);
    if (this.#changed.has(name)) return this.#changed.get(name);
    return this.#writing.get(name);
  }

  async #turn(): Promise<void> {
    await this.#write.catch(() => undefined);
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
      this.#reads.noteWritten(values);
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
