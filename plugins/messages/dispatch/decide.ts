import type { AccountReason } from '../../accounts/contract.ts';
import type { Contact } from '../../contacts/contract.ts';
import { failures } from '../failures.ts';
import { answered, failed, returnedFor, type StatusChange, takenByNetworkAt } from '../status.ts';
import type { StoredMessage } from '../tables/message-rows.ts';

/** How often a message may be handed to the network without an answer before it fails as uncertain. */
const mostAttempts = 20;

/** The account may write to no new contacts. */
export interface ClosedToStrangers {
  readonly reason: AccountReason;
  /** Milliseconds since the Unix epoch; null: nobody knows. */
  readonly until: number | null;
}

/** What the next message is decided on, besides itself and its contact. */
export interface DispatchSnapshot {
  readonly now: number;
  /** The number of the fence under which it would go out. */
  readonly fence: number;
  /** The network shows a repeated reference once. */
  readonly deduplicates: boolean;
  /** Why this session has handed the message to its driver before without a certain answer; null: it has not. */
  readonly unanswered: string | null;
  /** Why messages to strangers fail, when they do. */
  readonly closedToStrangers: ClosedToStrangers | null;
  /** The contact never wrote to the account and no message has reached it yet. */
  readonly stranger: boolean;
  readonly expireMs: number;
}

/** What to do with the next message. */
export type Dispatch =
  /** Hand it over, after its row, as changed here, is durable. */
  | { readonly go: StoredMessage }
  /** The message ends here: what became of it. */
  | { readonly end: StatusChange };

/** Decides whether a queued message goes out now. Only undispatched ones obey flags and restriction. */
export function decideDispatch(
  message: StoredMessage,
  contact: Pick<Contact, 'private' | 'doNotDisturb' | 'phone' | 'networkId'>,
  snapshot: DispatchSnapshot,
): Dispatch | null {
  if (message.status !== 'queued') return null;
  const go = (attempts: number): Dispatch => ({
    go: { ...message, attempts, dispatchedAt: snapshot.now, dispatchFence: snapshot.fence },
  });
  if (message.dispatchedAt !== null) {
    const takenAt = takenByNetworkAt(message);
    if (takenAt !== null) return end(answered(message, null, takenAt));
    // An erased contact has no address any more to repeat it to.
    const isErased = contact.phone === null && contact.networkId === null;
    // The intent of this very session, stored by a COMMIT whose answer got lost: nothing went out yet.
    const isIntent = message.dispatchFence === snapshot.fence && snapshot.unanswered === null;
    if (isIntent && !isErased) return go(message.attempts);
    const mayRepeat = snapshot.deduplicates && message.attempts < mostAttempts;
    if (mayRepeat && !isErased && !isOverdue(message, snapshot)) return go(message.attempts + 1);
    const cause = returnedFor(message) ?? snapshot.unanswered;
    return end(failed(message, failures.delivery_uncertain(cause), snapshot.now));
  }
  // It fails where the contact is forgotten, emptied.
  if (contact.private) return null;
  const error = refusal(message, contact, snapshot);
  if (error === null) return go(message.attempts + 1);
  return end(failed(message, error, snapshot.now));
}

/** Whether it waited too long. */
function isOverdue({ createdAt }: StoredMessage, { now, expireMs }: DispatchSnapshot): boolean {
  return createdAt <= now - expireMs;
}

function refusal(
  message: StoredMessage,
  contact: Pick<Contact, 'doNotDisturb'>,
  snapshot: DispatchSnapshot,
): string | null {
  if (contact.doNotDisturb) return failures.contact_do_not_disturb();
  if (isOverdue(message, snapshot)) {
    return failures.expired(snapshot.expireMs / 3_600_000, returnedFor(message));
  }
  if (snapshot.closedToStrangers !== null && snapshot.stranger) {
    const { reason, until } = snapshot.closedToStrangers;
    return failures.closedToStrangers(reason, until);
  }
  return null;
}

function end(change: StatusChange | null): Dispatch | null {
  return change === null ? null : { end: change };
}
