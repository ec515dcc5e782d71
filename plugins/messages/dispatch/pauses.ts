import { longestDelayMs } from '../../../core/waiting.ts';

/**
 * Timers of a session's pauses: one per conversation, by contact, and those of the whole account. A pause named by an
 * error lasts its time, through reconnects too. Any other pause ends early once the session is ready. A pause beyond
 * the longest timer ends early, and the network is asked again.
 */
export class Pauses {
  readonly #onEnd: (contactId: string | null) => void;
  readonly #contacts = new Map<
    string,
    { readonly timer: NodeJS.Timeout; readonly isNamed: boolean }
  >();
  /** Of the account at most one that is named and one that is not, by that. */
  readonly #account = new Map<
    boolean,
    { readonly timer: NodeJS.Timeout; readonly until: number }
  >();

  /** @param onEnd called with the contact whose pause is over, with null for one of the account's */
  constructor(onEnd: (contactId: string | null) => void) {
    this.#onEnd = onEnd;
  }

  /** Nothing is to be handed over. */
  get isAccountPaused(): boolean {
    return this.#account.size > 0;
  }

  /** Pauses a conversation, in milliseconds. */
  pause(contactId: string, ms: number, isNamed = false): void {
    clearTimeout(this.#contacts.get(contactId)?.timer);
    const timer = setTimeout(() => this.#end(contactId), Math.min(ms, longestDelayMs));
    this.#contacts.set(contactId, { timer, isNamed });
  }

  /** Pauses the account for at least so many milliseconds. */
  pauseAccount(ms: number, isNamed: boolean): void {
    const delayMs = Math.min(ms, longestDelayMs);
    const until = performance.now() + delayMs;
    const former = this.#account.get(isNamed);
    if (former !== undefined && former.until >= until) return;
    clearTimeout(former?.timer);
    const timer = setTimeout(() => this.#endAccount(isNamed), delayMs);
    this.#account.set(isNamed, { timer, until });
  }

  /** The session is ready: ends at once what waited for that alone. */
  ready(): void {
    this.#endAccount(false);
    for (const [contactId, { isNamed }] of [...this.#contacts]) {
      if (!isNamed) this.#end(contactId);
    }
  }

  /** A restriction by the network is over: ends the account's pauses, which it may have named for that. */
  unrestricted(): void {
    for (const isNamed of [...this.#account.keys()]) this.#endAccount(isNamed);
  }

  /** Ends all of them at once. */
  end(): void {
    this.unrestricted();
    for (const contactId of [...this.#contacts.keys()]) this.#end(contactId);
  }

  #end(contactId: string): void {
    clearTimeout(this.#contacts.get(contactId)?.timer);
    this.#contacts.delete(contactId);
    this.#onEnd(contactId);
  }

  #endAccount(isNamed: boolean): void {
    const ending = this.#account.get(isNamed);
    if (ending === undefined) return;
    clearTimeout(ending.timer);
    this.#account.delete(isNamed);
    this.#onEnd(null);
  }
}
