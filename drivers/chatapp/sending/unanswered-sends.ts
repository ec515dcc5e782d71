/** How many are kept for one account at most: a contact has one under way, and given up ones are the oldest. */
const most = 1_000;

/** Sends that the network may have under an id which nobody knows yet: those under way, and those that ended without it. */
export class UnansweredSends {
  /** The contact's id for each reference; null until the contact is found. */
  readonly #contacts = new Map<string, number | null>();

  /** Whether the answer of a send may bring the id of a message to this contact. */
  mayNameOneTo(userId: number): boolean {
    return [...this.#contacts.values()].some((one) => one === null || one === userId);
  }

  /** A try begins; a repetition may be answered with the message of an earlier one. */
  begun(reference: string): void {
    const contact = this.#contacts.get(reference) ?? null;
    this.#contacts.delete(reference);
    this.#contacts.set(reference, contact);
    const [oldest] = this.#contacts.keys();
    if (this.#contacts.size > most && oldest !== undefined) this.#contacts.delete(oldest);
  }

  /** The contact is found: the message is handed over next. */
  found(reference: string, userId: number): void {
    this.#contacts.set(reference, userId);
  }

  /** A try is over. @param mayBeTaken whether the network may have taken its message, or that of an earlier try, unnamed */
  ended(reference: string, mayBeTaken: boolean): void {
    const wasFound = (this.#contacts.get(reference) ?? null) !== null;
    if (!mayBeTaken || !wasFound) this.#contacts.delete(reference);
  }

  /** Drops the sends to somebody whose credentials are being deleted. */
  forget(userId: number): void {
    for (const [reference, one] of this.#contacts) {
      if (one === userId) this.#contacts.delete(reference);
    }
  }
}
