import type { EventView } from '../../core/contracts/event-subscriptions.ts';
import { type MintAddress, withFreshMedia } from '../../core/media-reference.ts';
import { timestamp } from '../../core/schemas.ts';
import type { ReadEvent } from './feed/feed-page.ts';

/** An event as clients and plugins see it, with fresh addresses of its media. */
export function eventView(
  { id, type, createdAt, accountId, payload }: ReadEvent,
  mint: MintAddress,
): EventView {
  return {
    id,
    type,
    created_at: timestamp(createdAt),
    account_id: accountId,
    // Written as the text of a JSON object by whoever raised the event.
    payload: JSON.parse(withFreshMedia(payload, mint)) as EventView['payload'],
  };
}
