import type { InboundMedia } from '../../../core/contracts/driver.ts';
import { mediaReference } from '../../../core/media-reference.ts';
import type { TakenMedia } from '../../media/contract.ts';
import type { Media } from '../tables/message-rows.ts';

/** What is known of media whose bytes are not kept, in the words of the API; a size that no file can have is unknown. */
export function describedMedia(media: InboundMedia | null): Media | null {
  if (media === null) return null;
  const { kind, mimeType, fileName } = media;
  // No answer could be written with another one: their schema says integer.
  const size = Number.isSafeInteger(media.size) && Number(media.size) >= 0 ? media.size : null;
  return { kind, url: null, mime_type: mimeType, file_name: fileName, size };
}

/** What is known of media whose bytes the media store keeps. */
export function storedMedia({ key, kind, mimeType, fileName, size }: TakenMedia): Media {
  return { kind, url: mediaReference(key), mime_type: mimeType, file_name: fileName, size };
}
