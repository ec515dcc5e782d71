/** A session of a number, to be told when another takes its place. */
export interface LocalSession {
  /** Another session of this process has linked the number. */
  replaced(): void;
}

/**
 * The sessions of this process by their number. The network lets a number have many sessions and says nothing
 * of it; here the newest link of a number ends the one before.
 */
export class LocalSessions {
  readonly #byNumber = new Map<string, LocalSession>();

  /** This session is the number's from now on. */
  linked(number: string, session: LocalSession): void {
    const before = this.#byNumber.get(number);
    this.#byNumber.set(number, session);
    if (before !== session) before?.replaced();
  }

  /** This session is closed. */
  closed(number: string, session: LocalSession): void {
    if (this.#byNumber.get(number) === session) this.#byNumber.delete(number);
  }
}
