import { failures } from '../failures.ts';
import { answered, failed, type StatusChange, takenByNetworkAt } from '../status.ts';
import type { StoredMessage } from '../tables/message-rows.ts';

/** What became of a message that was handed to the network. */
export type SendOutcome =
  | { readonly kind: 'sent'; readonly id: string; readonly networkId: string; readonly at: number }
  | { readonly kind: 'failed'; readonly id: string; readonly error: string }
  /** The network surely does not have it; it is tried again later and undispatched until then. */
  | { readonly kind: 'returned'; readonly id: string };

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
      const takenAt = takenByNetworkAt(message);
      // A receipt knows better than a connection that broke.
      const taken = outcome.error === failures.delivery_uncertain() && takenAt !== null;
      return taken ? answered(message, null, takenAt) : failed(message, outcome.error, now);
    }
    case 'returned':
      if (message.status !== 'queued' || message.dispatchFence !== fence) return null;
      return {
        message: {
          ...message,
          dispatchedAt: null,
          dispatchFence: null,
          attempts: Math.max(0, message.attempts - 1),
        },
        raised: [],
      };
  }
}
