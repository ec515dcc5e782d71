import type { AcceptedPosition, IdleSession } from '../dispatch/dispatchers.ts';
import { dispatchedMessage } from '../dispatch/outbound-message.ts';
import type { StoredMessage } from '../tables/message-rows.ts';
import type { SendBatch } from './batch.ts';
import type { SendInput } from './input.ts';

/** Answers an account's session if it is idle here at this moment. */
export type FindIdle = (accountId: string) => IdleSession | null;

/** An accepted message as it is stored, and as its session hands it over at once; null where it has to wait. */
export interface Accepted extends Pick<AcceptedPosition, 'intended'> {
  readonly message: StoredMessage;
}

/** The idle sessions of the accounts that sends name, by account. */
export function idleSessions(
  sends: readonly SendInput[],
  findIdle: FindIdle,
): ReadonlyMap<string, IdleSession> {
  const found = new Map<string, IdleSession>();
  for (const { accountId } of sends) {
    const idle = accountId === null || found.has(accountId) ? null : findIdle(accountId);
    if (idle !== null) found.set(idle.fence.id, idle);
  }
  return found;
}

/**
 * Enters the intents to send with the acceptance itself, where messages are the very next ones of an idle session: each
 * is spared a transaction of its own. As everywhere the intent is durable before the message is handed over, under a
 * lease that its transaction has locked and found valid.
 * @param idle the sessions whose leases are valid, by account
 */
export function enterIntents(
  messages: readonly StoredMessage[],
  idle: ReadonlyMap<string, IdleSession>,
  { contacts, now }: Pick<SendBatch, 'contacts' | 'now'>,
): readonly Accepted[] {
  const starts = new Map([...idle].map(([id, session]) => [id, new DirectStart(session)]));
  return messages.map((message) => {
    const start = starts.get(message.accountId);
    const contact = contacts.get(message.contactId);
    if (contact === undefined || start?.admits(message) !== true) {
      return { message, intended: null };
    }
    const going = { ...message, attempts: 1, dispatchedAt: now, dispatchFence: start.fence };
    return { message: going, intended: dispatchedMessage(going, contact) };
  });
}

/** What an idle session may take of one batch: the messages that follow without a gap, one to each contact. */
class DirectStart {
  readonly fence: number;
  readonly #session: IdleSession;
  readonly #contacts = new Set<string>();
  #next: number;
  #slots: number;

  constructor(session: IdleSession) {
    this.fence = session.fence.number;
    this.#session = session;
    this.#next = session.next;
    this.#slots = session.slots;
  }

  admits({ sequence, contactId, media }: StoredMessage): boolean {
    if (sequence !== this.#next) return false;
    this.#next += 1;
    const isBusy = this.#contacts.has(contactId) || this.#session.isBusy(contactId);
    this.#contacts.add(contactId);
    // Media is fetched before the intent to send it is stored.
    if (isBusy || media !== null || this.#slots === 0) return false;
    this.#slots -= 1;
    return true;
  }
}
