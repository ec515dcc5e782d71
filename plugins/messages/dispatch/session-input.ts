import type { ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { Head } from './conversations.ts';
import type { ClosedToStrangers } from './decide.ts';
import type { DispatchedMessage } from './outbound-message.ts';
import type { SendOutcome } from './outcome.ts';

/** One step of a session's dispatching: what became of messages, and which ones are to follow. */
export interface DispatchStep {
  readonly outcomes: readonly SendOutcome[];
  /** At most one to each contact. */
  readonly next: readonly Pick<Head, 'id' | 'contactId' | 'unanswered'>[];
  readonly deduplicates: boolean;
  readonly closedToStrangers: ClosedToStrangers | null;
}

/** What a session has to store: a step of its dispatching, or receipts in the order in which they came. */
export interface SessionInput {
  readonly fence: LeaseToken;
  readonly tenantId: string;
  /** Answers the same step whenever it is asked. First asked when the transaction begins. */
  readonly step: (() => DispatchStep) | null;
  readonly receipts: readonly ReceiptEvent[];
}

/**
 * The next send: the message to hand over, or why it waits. `movedTo` names the contact that has the message after a
 * merge. `hasEarlier`: earlier messages to the contact come first, perhaps known under another id.
 */
export type NextSend =
  | DispatchedMessage
  | { readonly movedTo: string }
  | { readonly hasEarlier: true };

/** The answer to a session. */
export type SessionOutput =
  /** The session has lost its lease; nothing was stored. */
  | { readonly held: false }
  | {
      readonly held: true;
      /** For each `next` of the step what follows; null when it does not go out. */
      readonly next: readonly (NextSend | null)[];
      /** The receipts that were not entered: the answer of a send may yet name their messages. */
      readonly left: readonly ReceiptEvent[];
    };
