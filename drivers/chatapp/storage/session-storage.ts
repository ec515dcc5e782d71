import type { ITelegramStorageProvider } from '@mtcute/core';
import type { CredentialBuffer } from './credential-buffer.ts';
import { KeyRepository } from './keys.ts';
import { peersKeptElsewhere, referencesKeptNowhere } from './peers.ts';
import { ValueRepository } from './values.ts';

/** The name under which the library's keys and values are stored together. */
const name = 'session';
const version = 1;

interface Stored {
  readonly version: number;
  readonly keys: Readonly<Record<string, string>>;
  readonly values: Readonly<Record<string, string>>;
}

/**
 * The library's storage over the account's credentials: session keys and values as one credential, so that
 * neither can be there without the other. Nothing is written before `begin`, so that a login that was not
 * finished leaves nothing behind.
 */
export class SessionStorage implements ITelegramStorageProvider {
  readonly kv = new ValueRepository(() => this.#changed());
  readonly authKeys = new KeyRepository(() => this.#changed());
  readonly peers = peersKeptElsewhere;
  readonly refMessages = referencesKeptNowhere;
  readonly driver = { save: () => this.#save() };
  readonly #buffer: CredentialBuffer;
  #begun = false;
  #isNew = false;

  constructor(buffer: CredentialBuffer) {
    this.#buffer = buffer;
  }

  /** Takes what is stored; answers whether there was a session. */
  async load(): Promise<boolean> {
    const text = (await this.#buffer.get([name])).get(name);
    if (text === undefined) return false;
    // Only this class writes under this name.
    const stored = JSON.parse(text) as Stored;
    if (stored.version !== version) return false;
    this.authKeys.restore(stored.keys);
    this.kv.restore(stored.values);
    this.#begun = true;
    return true;
  }

  /** Begins to store changes with each write of the buffer; notes all there is now. */
  begin(): void {
    this.#begun = true;
    this.#note();
  }

  /** Forgets the key of a data center: the next connection agrees on another with it. */
  forgetKey(dataCenter: number): void {
    this.authKeys.deleteByDc(dataCenter);
    void this.#save();
  }

  #changed(): void {
    this.#isNew = true;
  }

  async #save(): Promise<void> {
    if (!this.#begun || !this.#isNew) return;
    this.#note();
    // Ignored: the library saves while it closes, and would leave its timers behind on a failure. The next write stores
    // it.
    await this.#buffer.write().catch(() => undefined);
  }

  #note(): void {
    this.#isNew = false;
    const stored: Stored = { version, keys: this.authKeys.all(), values: this.kv.all() };
    this.#buffer.put(name, JSON.stringify(stored));
  }
}
