import type { MessageView } from '../../../core/contracts/messages.ts';
import { freshAddress, type MintAddress } from '../../../core/media-reference.ts';
import { nullableTimestamp, timestamp } from '../../../core/schemas.ts';
import type { MessageWithContact } from '../tables/message-rows.ts';

/**
 * A message as the API shows it.
 * @param mint makes the address of its media, if that is stored
 */
export function messageView(message: MessageWithContact, mint: MintAddress): MessageView {
  const { media } = message;
  // What a queued message's row knows beyond that are receipts that wait for the answer to its send.
  const queued = message.status === 'queued';
  const reached = (at: number | null): string | null => (queued ? null : nullableTimestamp(at));
  return {
    id: message.id,
    direction: message.direction,
    text: message.text,
    media: media === null ? null : { ...media, url: freshAddress(media.url, mint) },
    status: message.status,
    error: message.status === 'failed' ? message.error : null,
    account_id: message.accountId,
    channel: message.channel,
    contact: message.contact,
    created_at: timestamp(message.createdAt),
    sent_at: reached(message.sentAt),
    delivered_at: reached(message.deliveredAt),
    read_at: reached(message.readAt),
    failed_at: reached(message.failedAt),
  };
}
