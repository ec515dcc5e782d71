import type { ReceiptEvent } from '../../core/contracts/driver.ts';
import type { EventStatus } from './events.ts';
import { failures } from './failures.ts';
import { storedNetworkId } from './network-ids.ts';
import type { StoredMessage } from './tables/message-rows.ts';

/** A message after a change of its status, and the statuses whose events the change raises, each with the message as it was then. */
export interface StatusChange {
  readonly message: StoredMessage;
  readonly raised: readonly { readonly status: EventStatus; readonly message: StoredMessage }[];
}

/** How far a receipt takes a message. */
export type Receipt = Pick<ReceiptEvent, 'status' | 'error' | 'at'>;

/** The order of the statuses; `failed` is reached from the first two only. */
const rank = { queued: 0, sent: 1, delivered: 2, read: 3 } as const;

/**
 * Applies one receipt. The status only moves forward: a late or repeated receipt changes nothing; one that
 * skips a step sets the skipped times too and raises its own event only.
 *
 * For a message whose send is not answered yet the receipt is kept in the row, as the time of the status it
 * reports, and takes effect in `answered`. One for imported history raises nothing.
 * @returns null when it changes nothing
 */
export function receive(message: StoredMessage, receipt: Receipt): StatusChange | null {
  if (message.direction !== 'outbound') return null;
  if (message.status === 'queued') {
    const kept = message.dispatchedAt === null ? null : keep(message, receipt);
    return kept === null ? null : { message: kept, raised: [] };
  }
  const isImported = message.sequence === null;
  // The gateway did not send it.
  if (isImported && receipt.status === 'failed') return null;
  const changed = advance(message, receipt);
  return changed === null ? null : { message: changed, raised: isImported ? [] : raise(changed) };
}

/** The send was answered: the network took the message. Receipts that had come before take effect, in order. */
export function answered(
  message: StoredMessage,
  networkId: string | null,
  at: number,
): StatusChange | null {
  if (message.status !== 'queued') return null;
  const sent: StoredMessage = {
    ...message,
    status: 'sent',
    networkId: networkId === null ? message.networkId : storedNetworkId(networkId),
    // Networks that round to seconds must not make a message older than its acceptance.
    sentAt: Math.max(at, message.createdAt),
    deliveredAt: null,
    readAt: null,
    failedAt: null,
    error: null,
  };
  let current = sent;
  const raised = [...raise(sent)];
  for (const receipt of keptReceipts(message)) {
    const changed = advance(current, receipt);
    if (changed === null) continue;
    current = changed;
    raised.push(...raise(changed));
  }
  return { message: current, raised };
}

/**
 * When the network took a message whose send was never answered, as a receipt has shown meanwhile; null when
 * none has.
 */
export function takenByNetworkAt(message: StoredMessage): number | null {
  if (message.status !== 'queued') return null;
  const times = keptReceipts(message).map((receipt) => receipt.at);
  return times.length === 0 ? null : Math.min(...times);
}

/** The message failed before the network took it, or nobody will ever know. Null when it is not queued any more. */
export function failed(message: StoredMessage, error: string, at: number): StatusChange | null {
  if (message.status !== 'queued') return null;
  const changed: StoredMessage = {
    ...message,
    status: 'failed',
    error,
    sentAt: null,
    deliveredAt: null,
    readAt: null,
    failedAt: at,
  };
  return { message: changed, raised: raise(changed) };
}

/**
 * A try surely came to nothing: it is undone. The row keeps why, unless a receipt said why the message failed.
 * @param cause null: nothing was tried, so that an earlier cause stays
 */
export function returned(message: StoredMessage, cause: string | null): StoredMessage {
  const attempts = Math.max(0, message.attempts - 1);
  return {
    ...message,
    attempts,
    // After an earlier try without an answer the network may have the message: receipts count.
    dispatchedAt: attempts === 0 ? null : message.dispatchedAt,
    dispatchFence: null,
    error: message.failedAt === null ? (cause ?? message.error) : message.error,
  };
}

/** Why the last try of a queued message surely came to nothing; null: it did not, or nobody knows. */
export function returnedFor({ dispatchFence, failedAt, error }: StoredMessage): string | null {
  return dispatchFence === null && failedAt === null ? error : null;
}

/**
 * Gives a message up: it fails with `error`, or as uncertain where it was handed over. A receipt that has come counts as
 * the answer.
 * @param error why it fails where it was not handed over
 * @param ended why a try that is under way comes to nothing; null: nobody knows
 */
export function givenUp(
  message: StoredMessage,
  error: string,
  at: number,
  ended: string | null = null,
): StatusChange | null {
  if (message.dispatchedAt === null) return failed(message, error, at);
  const takenAt = takenByNetworkAt(message);
  return takenAt === null
    ? failed(message, failures.delivery_uncertain(returnedFor(message) ?? ended), at)
    : answered(message, null, takenAt);
}

function advance(message: StoredMessage, receipt: Receipt): StoredMessage | null {
  if (message.status === 'failed' || message.status === 'received') return null;
  const { status, error } = receipt;
  const at = Math.max(receipt.at, message.sentAt ?? message.createdAt, message.deliveredAt ?? 0);
  if (status === 'failed') {
    if (rank[message.status] > rank.sent) return null;
    return { ...message, status, error: failures.receipt(error), failedAt: at };
  }
  if (rank[status] <= rank[message.status]) return null;
  return {
    ...message,
    status,
    sentAt: message.sentAt ?? at,
    deliveredAt: message.deliveredAt ?? at,
    readAt: status === 'read' ? at : message.readAt,
  };
}

function keep(message: StoredMessage, { status, error, at }: Receipt): StoredMessage | null {
  switch (status) {
    case 'sent':
      return message.sentAt === null ? { ...message, sentAt: at } : null;
    case 'delivered':
      return message.deliveredAt === null ? { ...message, deliveredAt: at } : null;
    case 'read':
      return message.readAt === null ? { ...message, readAt: at } : null;
    case 'failed':
      return message.failedAt === null
        ? { ...message, failedAt: at, error: failures.receipt(error) }
        : null;
  }
}

/** What `keep` has put into a queued message's row. */
function keptReceipts(message: StoredMessage): readonly Receipt[] {
  const { sentAt, deliveredAt, readAt, failedAt, error } = message;
  const kept: Receipt[] = [];
  if (sentAt !== null) kept.push({ status: 'sent', error: null, at: sentAt });
  if (deliveredAt !== null) kept.push({ status: 'delivered', error: null, at: deliveredAt });
  if (readAt !== null) kept.push({ status: 'read', error: null, at: readAt });
  if (failedAt !== null) kept.push({ status: 'failed', error, at: failedAt });
  return kept;
}

function raise(message: StoredMessage): StatusChange['raised'] {
  return message.status === 'queued' ? [] : [{ status: message.status, message }];
}
