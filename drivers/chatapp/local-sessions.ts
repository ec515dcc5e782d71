/** A session that can be replaced. */
export interface LocalSession {
  /** Another session of this process has linked the number. */
  replaced(): void;
}

/**
 * Sessions of this process by number. The network allows a number many sessions; here the newest link ends the one
 * before.
 */
export class LocalSessions {
  readonly #byNumber = new Map<string, LocalSession>();

  /** The session owns the number from now on. */
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
