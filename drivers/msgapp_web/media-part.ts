import { PassThrough, type Readable } from 'node:stream';
import { DriverError, type InboundMedia, type MediaKind } from '../../core/contracts/driver.ts';
import { untilAborted } from '../../core/waiting.ts';
import type { Library, LibrarySocket } from './library.ts';

/** The media of a message, as the network describes it. */
export interface MediaPart {
  /** The library's word for how it is encrypted. */
  readonly type: EncryptedAs;
  readonly part: MediaFields;
}

type EncryptedAs = 'image' | 'video' | 'audio' | 'document' | 'sticker';

interface MediaFields {
  readonly mediaKey?: Uint8Array | null;
  readonly directPath?: string | null;
  readonly mimetype?: string | null;
  readonly fileName?: string | null;
  readonly fileLength?: number | Long | null;
  readonly caption?: string | null;
}

/** Parts of a message that carry media. */
export interface MediaCarrier {
  readonly imageMessage?: MediaFields | null | undefined;
  readonly videoMessage?: MediaFields | null | undefined;
  readonly documentMessage?: MediaFields | null | undefined;
}

/** A number as the library reads it. */
export type Long = { toNumber(): number };

const kinds: Readonly<Record<EncryptedAs, MediaKind>> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  document: 'document',
  sticker: 'image',
};

export function mediaPart(type: EncryptedAs, part: MediaFields): MediaPart {
  return { type, part };
}

/** The media of such a part; null when it has none. */
export function mediaPartOf(carrier: MediaCarrier): MediaPart | null {
  const { imageMessage, videoMessage, documentMessage } = carrier;
  if (imageMessage) return mediaPart('image', imageMessage);
  if (videoMessage) return mediaPart('video', videoMessage);
  if (documentMessage) return mediaPart('document', documentMessage);
  return null;
}

/** Media as JSON: only the fields by which a file is fetched and described. */
export function plainPart({ type, part }: MediaPart): MediaPart {
  const { mediaKey, directPath, mimetype, fileName, fileLength } = part;
  const size = fileLength ? numberOf(fileLength) : null;
  return { type, part: { mediaKey, directPath, mimetype, fileName, fileLength: size } };
}

/** What is known of media without their bytes. */
export function describedMedia({ type, part }: MediaPart): InboundMedia {
  return {
    kind: kinds[type],
    mimeType: part.mimetype?.split(';')[0]?.trim() || null,
    fileName: part.fileName || null,
    size: part.fileLength ? numberOf(part.fileLength) : null,
    url: null,
  };
}

/** Media that only this account can read. */
export function inboundMedia(
  library: Library,
  socket: LibrarySocket,
  media: MediaPart,
): InboundMedia {
  const described = describedMedia(media);
  const { type, part } = media;
  const { mediaKey, directPath } = part;
  // The sender writes the address: only a path on the network's own host is followed.
  if (!mediaKey || !directPath?.startsWith('/')) return described;
  return {
    ...described,
    async open(signal: AbortSignal): Promise<Readable> {
      const host = socket.getMediaHost();
      const opening = library.downloadContentFromMessage({ mediaKey, directPath }, type, { host });
      const stream = await untilAborted(signal, opening, (late) => late.destroy()).catch(
        (error: unknown) => {
          throw failureOf(socket, error);
        },
      );
      const file = new PassThrough();
      const givenUp = (): unknown => file.destroy(asError(signal.reason));
      signal.addEventListener('abort', givenUp, { once: true });
      if (signal.aborted) givenUp();
      stream.on('error', (error) => file.destroy(failureOf(socket, error)));
      file.once('close', () => stream.destroy());
      return stream.pipe(file);
    },
  };
}

/** Why a file did not come: with its message again, where the connection that brought the message is over. */
function failureOf({ ws }: LibrarySocket, cause: unknown): Error {
  if (ws.isOpen) return asError(cause);
  return new DriverError('media_unavailable', 'the connection to the network ended', {
    certain: true,
    retryAfterMs: 0,
    cause,
  });
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Milliseconds since the epoch of the network's seconds. */
export function timeOf(seconds: number | Long | null | undefined): number {
  return numberOf(seconds ?? 0) * 1_000;
}

function numberOf(value: number | Long): number {
  return typeof value === 'number' ? value : value.toNumber();
}
