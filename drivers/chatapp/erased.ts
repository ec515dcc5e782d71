import { hash } from 'node:crypto';
import type { CredentialBuffer } from './storage/credential-buffer.ts';

/** The name under which the marks are stored together. */
const name = 'erased';

/**
 * Erased contacts of one link. The network still names them, mostly in the address book; a message or a send alone brings
 * one back. The mark of each is a hash of the id.
 */
export class Erased {
  readonly #buffer: CredentialBuffer;
  readonly #marks = new Set<string>();
  #loading: Promise<void> | null = null;

  constructor(buffer: CredentialBuffer) {
    this.#buffer = buffer;
  }

  /** Loads what is stored, once. @throws when the database is away; the next call begins anew */
  async load(): Promise<void> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = null;
      throw error;
    });
    await this.#loading;
  }

  has(id: number): boolean {
    return this.#marks.size > 0 && this.#marks.has(markOf(id));
  }

  /** Marks somebody at once; the mark is stored a moment later. */
  add(id: number): void {
    this.#marks.add(markOf(id));
    void this.#store().catch(() => undefined);
  }

  /** Takes the mark away with the next write of the buffer. */
  delete(id: number): void {
    if (this.#marks.delete(markOf(id))) this.#note();
  }

  async #store(): Promise<void> {
    // Else marks of before would be lost.
    await this.load();
    this.#note();
    await this.#buffer.write();
  }

  async #load(): Promise<void> {
    const text = (await this.#buffer.get([name])).get(name) ?? '[]';
    // Only this class writes under this name.
    for (const mark of JSON.parse(text) as string[]) this.#marks.add(mark);
  }

  #note(): void {
    this.#buffer.put(name, this.#marks.size === 0 ? null : JSON.stringify([...this.#marks]));
  }
}

function markOf(id: number): string {
  return hash('sha256', `erased:${id}`, 'base64url').slice(0, 16);
}
