/** A session of a number, to be told when another takes its place. */
export interface Sibling {
  /** Another session of this process has linked the number. */
  replaced(): void;
}

/**
 * The sessions of this process by their number. The network lets a number have many sessions and says nothing
 * of it; here the newest link of a number ends the one before.
 */
export class Siblings {
  readonly #byNumber = new Map<string, Sibling>();

  /** This session is the number's from now on. */
  linked(number: string, sibling: Sibling): void {
    const before = this.#byNumber.get(number);
    this.#byNumber.set(number, sibling);
    if (before !== sibling) before?.replaced();
  }

  /** This session is closed. */
  closed(number: string, sibling: Sibling): void {
    if (this.#byNumber.get(number) === sibling) this.#byNumber.delete(number);
  }
}
