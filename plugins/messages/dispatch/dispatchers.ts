import type { LiveSession } from '../../accounts/contract.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { QueuePosition } from '../tables/message-rows.ts';
import type { Dispatcher } from './dispatcher.ts';
import type { DispatchedMessage } from './outbound-message.ts';

/** A newly accepted message's position in its queue, as the process that accepted it knows it. */
export interface AcceptedPosition extends QueuePosition {
  /** What its session hands over at once, as the intent is stored with the acceptance; null where it is not. */
  readonly intended: DispatchedMessage | null;
}

/** What an idle session would hand over at once, were it accepted with its intent. */
export interface IdleQueue {
  /** The sequence that the next accepted message must have. */
  readonly next: number;
  /** How many messages, of as many contacts. */
  readonly slots: number;
  /** Whether messages to this contact are queued or under way. */
  isBusy(contactId: string): boolean;
}

/** A session of this process that has handed over all that is queued and would hand over the next messages at once. */
export interface IdleSession extends IdleQueue {
  readonly fence: LeaseToken;
}

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

  /** Contacts have become one, of whatever account. */
  merged(): void {
    for (const { dispatcher } of this.#held.values()) dispatcher.merged();
  }

  /** The account's session if it is here and idle: see `IdleSession`. */
  idle(accountId: string): IdleSession | null {
    const held = this.#held.get(accountId);
    const idle = held?.dispatcher.idle() ?? null;
    return held === undefined || idle === null ? null : { fence: held.session.fence, ...idle };
  }

  /**
   * Hands newly queued messages to the account's session if it is here, connected and within its lease, when no other
   * process can send them. Answers whether it did; the database still decides whether they go out.
   */
  wake(accountId: string, positions: readonly AcceptedPosition[]): boolean {
    const held = this.#held.get(accountId);
    if (held === undefined) return false;
    const isHost = held.session.connected && held.session.mayAct();
    // A stored intent that cannot be carried out any more is to be taken back.
    const isIntended = positions.some(({ intended }) => intended !== null);
    return (isHost || isIntended) && held.dispatcher.wake(positions) && isHost;
  }
}
