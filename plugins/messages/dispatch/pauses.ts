import { longestDelayMs } from '../../../core/waiting.ts';

/**
 * Timers of a session's pauses: of conversations, by contact, and of the whole account. One that no timer takes ends
 * early: the network is asked again then.
 */
export class Pauses {
  readonly #onEnd: (contactId: string | null) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #account: { readonly timer: NodeJS.Timeout; readonly until: number } | null = null;

  /** @param onEnd called with the contact whose pause is over, with null for the account's */
  constructor(onEnd: (contactId: string | null) => void) {
    this.#onEnd = onEnd;
  }

  /** Nothing is to be handed over. */
  get isAccountPaused(): boolean {
    return this.#account !== null;
  }

  /** Pauses a conversation, in milliseconds. */
  pause(contactId: string, ms: number): void {
    clearTimeout(this.#timers.get(contactId));
    this.#timers.set(
      contactId,
      setTimeout(() => this.#end(contactId), Math.min(ms, longestDelayMs)),
    );
  }

  /** Pauses the account for at least so many milliseconds. */
  pauseAccount(ms: number): void {
    const delayMs = Math.min(ms, longestDelayMs);
    const until = performance.now() + delayMs;
    if (this.#account !== null && this.#account.until >= until) return;
    clearTimeout(this.#account?.timer);
    this.#account = { until, timer: setTimeout(() => this.#endAccount(), delayMs) };
  }

  /** Ends all of them at once. */
  end(): void {
    if (this.#account !== null) this.#endAccount();
    for (const contactId of [...this.#timers.keys()]) this.#end(contactId);
  }

  #end(contactId: string): void {
    clearTimeout(this.#timers.get(contactId));
    this.#timers.delete(contactId);
    this.#onEnd(contactId);
  }

  #endAccount(): void {
    clearTimeout(this.#account?.timer);
    this.#account = null;
    this.#onEnd(null);
  }
}
