import type { AcceptedPosition } from '../dispatch/dispatcher.ts';
import type { IdleSession } from '../dispatch/dispatchers.ts';
import { outboundMessage } from '../dispatch/outbound-message.ts';
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
 * Enters the intent to send with the acceptance itself, where the message is the very next one of an idle session: it is
 * spared a transaction of its own. As everywhere the intent is durable before the message is handed over, under a
 * lease that its transaction has locked and found valid.
 * @param idle the sessions whose leases are valid, by account
 */
export function enterIntents(
  messages: readonly StoredMessage[],
  idle: ReadonlyMap<string, IdleSession>,
  { contacts, now }: Pick<SendBatch, 'contacts' | 'now'>,
): readonly Accepted[] {
  return messages.map((message) => {
    const session = idle.get(message.accountId);
    const contact = contacts.get(message.contactId);
    if (session?.next !== message.sequence || contact === undefined) {
      return { message, intended: null };
    }
    const dispatchFence = session.fence.number;
    const going = { ...message, attempts: 1, dispatchedAt: now, dispatchFence };
    return { message: going, intended: outboundMessage(going, contact) };
  });
}
