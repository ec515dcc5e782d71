import type { IAuthKeysRepository } from '@mtcute/core';
import { base64, bytes } from './values.ts';

/**
 * Session keys by data center. In memory; stored by their owner. Temporary keys live as long as the process:
 * the library makes new ones.
 */
export class KeyRepository implements IAuthKeysRepository {
  readonly #keys = new Map<number, Uint8Array>();
  readonly #temporary = new Map<string, { readonly key: Uint8Array; readonly expires: number }>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  set(dc: number, key: Uint8Array | null): void {
    if (key === null) this.#keys.delete(dc);
    else this.#keys.set(dc, key);
    this.#changed();
  }

  get(dc: number): Uint8Array | null {
    return this.#keys.get(dc) ?? null;
  }

  setTemp(dc: number, index: number, key: Uint8Array | null, expires: number): void {
    if (key === null) this.#temporary.delete(`${dc}:${index}`);
    else this.#temporary.set(`${dc}:${index}`, { key, expires });
  }

  getTemp(dc: number, index: number, now: number): Uint8Array | null {
    const found = this.#temporary.get(`${dc}:${index}`);
    return found !== undefined && now < found.expires ? found.key : null;
  }

  deleteByDc(dc: number): void {
    this.#keys.delete(dc);
    for (const name of this.#temporary.keys()) {
      if (name.startsWith(`${dc}:`)) this.#temporary.delete(name);
    }
    this.#changed();
  }

  deleteAll(): void {
    this.#keys.clear();
    this.#temporary.clear();
    this.#changed();
  }

  /** The lasting keys, base64. */
  all(): Record<string, string> {
    return Object.fromEntries([...this.#keys].map(([dc, key]) => [String(dc), base64(key)]));
  }

  /** Takes what `all` gave, in place of what there is. */
  restore(keys: Readonly<Record<string, string>>): void {
    this.#keys.clear();
    for (const [dc, key] of Object.entries(keys)) this.#keys.set(Number(dc), bytes(key));
  }
}
