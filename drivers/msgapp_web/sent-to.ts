import { userOf } from './addresses.ts';

/** How many messages are remembered. */
const remembered = 1_000;

/** The addresses that a session's latest messages went to: a receipt from anybody else is dropped. */
export class SentTo {
  /** By reference. */
  readonly #addresses = new Map<string, string>();

  /** Notes that a message is about to be handed over. */
  note(reference: string, address: string): void {
    this.#addresses.delete(reference);
    this.#addresses.set(reference, address);
    const [oldest] = this.#addresses.keys();
    if (this.#addresses.size > remembered && oldest) this.#addresses.delete(oldest);
  }

  /** The address of a message; undefined when it is not known any more. */
  of(reference: string): string | undefined {
    return this.#addresses.get(reference);
  }

  /** Drops what went to erased contacts. @param users their digits */
  forget(users: readonly string[]): void {
    for (const [reference, address] of this.#addresses) {
      if (users.includes(userOf(address))) this.#addresses.delete(reference);
    }
  }
}
