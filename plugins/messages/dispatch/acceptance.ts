import type { LeaseToken } from '../../cluster/contract.ts';
import type { QueuePosition } from '../tables/message-rows.ts';
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
