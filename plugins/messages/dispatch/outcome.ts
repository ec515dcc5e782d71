import { failures, isUncertain, precedesHandOver } from '../failures.ts';
import { answered, failed, returned, type StatusChange, takenByNetworkAt } from '../status.ts';
import type { StoredMessage } from '../tables/message-rows.ts';

/** What became of a message that was handed to the network. */
export type SendOutcome =
  | {
      readonly kind: 'sent';
      readonly id: string;
      /** Null where what the driver answered cannot be stored. */
      readonly networkId: string | null;
      readonly at: number;
      /** Trace context of the message, for the log. */
      readonly trace?: string | null;
    }
  | { readonly kind: 'failed'; readonly id: string; readonly error: string }
  /** The network surely does not have it of this try; it is tried again later. */
  | {
      readonly kind: 'returned';
      readonly id: string;
      /** As `error` of a message says it; null: nothing was tried. */
      readonly cause: string | null;
    };

/** Enters what became of a message. Null when that changes nothing, as after a repeat. */
export function enterOutcome(
  message: StoredMessage,
  outcome: SendOutcome,
  fence: number,
  now: number,
): StatusChange | null {
  switch (outcome.kind) {
    case 'sent':
      return answered(message, outcome.networkId, outcome.at);
    case 'failed': {
      const { error } = outcome;
      // An earlier try without an answer may have arrived: tries that were undone are not counted.
      const isRepeat = message.attempts > 1;
      const takenAt = isUncertain(error) || isRepeat ? takenByNetworkAt(message) : null;
      // A receipt knows better than a connection that broke.
      if (takenAt !== null) return answered(message, null, takenAt);
      // A network that drops repeats would have answered this one, had it come so far.
      const isOpen = isRepeat && precedesHandOver(error);
      return failed(message, isOpen ? failures.delivery_uncertain(error) : error, now);
    }
    case 'returned': {
      if (message.status !== 'queued' || message.dispatchFence !== fence) return null;
      return { message: returned(message, outcome.cause), raised: [] };
    }
  }
}
