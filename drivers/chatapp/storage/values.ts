import type { IKeyValueRepository } from '@mtcute/core';

/** Small values of the library: the data center, salts, who is logged in. In memory; stored by its owner. */
export class ValueRepository implements IKeyValueRepository {
  readonly #values = new Map<string, Uint8Array>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  set(key: string, value: Uint8Array): void {
    this.#values.set(key, value);
    this.#changed();
  }

  get(key: string): Uint8Array | null {
    return this.#values.get(key) ?? null;
  }

  delete(key: string): void {
    this.#values.delete(key);
    this.#changed();
  }

  deleteAll(): void {
    this.#values.clear();
    this.#changed();
  }

  /** Everything, base64. */
  all(): Record<string, string> {
    return Object.fromEntries([...this.#values].map(([key, value]) => [key, base64(value)]));
  }

  /** Takes what `all` gave, in place of what there is. */
  restore(values: Readonly<Record<string, string>>): void {
    this.#values.clear();
    for (const [key, value] of Object.entries(values)) this.#values.set(key, bytes(value));
  }
}

/** Bytes as text. */
export function base64(value: Uint8Array): string {
  return Buffer.from(value).toString('base64');
}

/** Text as bytes, in a buffer of their own. */
export function bytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
