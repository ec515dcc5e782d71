import type { OutboundMessage, ReceiptEvent } from '../../../core/contracts/driver.ts';
import type { AccountReason } from '../../accounts/contract.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { SendOutcome } from './outcome.ts';

/** One step of a session's dispatching: what became of the last message, and which one is to follow. */
export interface DispatchStep {
  readonly outcome: SendOutcome | null;
  readonly next: { readonly id: string; readonly again: boolean } | null;
  readonly deduplicates: boolean;
  readonly closedToStrangers: AccountReason | null;
}

/** What a session has to store: a step of its dispatching, or receipts in the order in which they came. */
export interface SessionInput {
  readonly fence: LeaseToken;
  readonly tenantId: string;
  readonly step: DispatchStep | null;
  readonly receipts: readonly ReceiptEvent[];
}

/** The answer to a session. */
export type SessionOutput =
  /** The session has lost its lease; nothing was stored. */
  | { readonly held: false }
  | {
      readonly held: true;
      /** What may be handed over now; null when the step's `next` does not go out. */
      readonly message: OutboundMessage | null;
      /** The receipts that were not entered: from the first on that names no message of the account. */
      readonly left: readonly ReceiptEvent[];
    };
