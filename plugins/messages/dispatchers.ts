import type { LiveSession } from '../accounts/contract.ts';
import type { QueuedPlace } from './contract.ts';
import type { Dispatcher } from './dispatcher.ts';

/** The dispatchers of the sessions that this process holds, by account. */
export class Dispatchers {
  readonly #held = new Map<
    string,
    { readonly session: LiveSession; readonly dispatcher: Dispatcher }
  >();

  /** Enters a session; an earlier one of the same account is forgotten. */
  add(session: LiveSession, dispatcher: Dispatcher): void {
    this.#held.set(session.account.id, { session, dispatcher });
  }

  /** Takes a session out, unless a later one of its account has come. */
  remove(session: LiveSession): void {
    const { id } = session.account;
    if (this.#held.get(id)?.session === session) this.#held.delete(id);
  }

  /** The accounts whose sessions are here. */
  accountIds(): readonly string[] {
    return [...this.#held.keys()];
  }

  get(accountId: string): Dispatcher | undefined {
    return this.#held.get(accountId)?.dispatcher;
  }

  /**
   * Hands newly queued messages to the account's session if it is here, connected and within its lease, when no other
   * process can send them. Answers whether it did; the database still decides whether they go out.
   */
  wake(accountId: string, places: readonly QueuedPlace[]): boolean {
    const held = this.#held.get(accountId);
    if (held === undefined || !held.session.connected || !held.session.mayAct()) return false;
    return held.dispatcher.wake(places);
  }
}
