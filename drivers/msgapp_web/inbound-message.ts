import type { Readable } from 'node:stream';
import type { proto, WAMessage } from 'baileys';
import type { InboundMedia, MediaKind, MessageEvent } from '../../core/contracts/driver.ts';
import { contactOf } from './addresses.ts';
import { beforeAbort } from './before-abort.ts';
import type { Library, LibrarySocket } from './library.ts';

/** A message's media as the network tells of it. */
interface MediaPart {
  readonly kind: MediaKind;
  /** The library's word for how it is encrypted. */
  readonly type: 'image' | 'video' | 'audio' | 'document' | 'sticker';
  readonly part: MediaFields;
}

interface MediaFields {
  readonly mediaKey?: Uint8Array | null;
  readonly directPath?: string | null;
  readonly mimetype?: string | null;
  readonly fileName?: string | null;
  readonly fileLength?: number | Long | null;
  readonly caption?: string | null;
}

type Long = { toNumber(): number };

/**
 * What a contact wrote, as the gateway wants it.
 * @returns null for what is no message of a contact to us: our own, a reaction, an edit, a protocol matter, or
 *   what could not be decrypted
 */
export function messageEventOf(
  library: Library,
  socket: LibrarySocket,
  message: WAMessage,
): MessageEvent | null {
  const { key } = message;
  if (key.fromMe || !key.id || message.messageStubType) return null;
  const address = contactOf(key.remoteJid, key.remoteJidAlt);
  const content = library.normalizeMessageContent(message.message);
  if (address === null || !content) return null;
  const media = mediaPartOf(content);
  const text = textOf(content) ?? media?.part.caption ?? '';
  if (text === '' && media === null) return null;
  return {
    type: 'message',
    networkId: key.id,
    from: { ...address, name: message.pushName || null },
    text,
    media: media === null ? null : inboundMedia(library, socket, media),
    at: timeOf(message.messageTimestamp),
  };
}

/** Milliseconds since the epoch of the network's seconds. */
export function timeOf(seconds: number | Long | null | undefined): number {
  return numberOf(seconds ?? 0) * 1_000;
}

/** The text of a message that is not a caption; null when it has none. */
export function textOf(content: proto.IMessage): string | null {
  return (
    content.conversation ||
    content.extendedTextMessage?.text ||
    content.buttonsResponseMessage?.selectedDisplayText ||
    content.templateButtonReplyMessage?.selectedDisplayText ||
    content.listResponseMessage?.title ||
    null
  );
}

/** The media of a message; null when it has none. */
export function mediaPartOf(content: proto.IMessage): MediaPart | null {
  const { imageMessage, videoMessage, audioMessage, documentMessage, stickerMessage } = content;
  if (imageMessage) return { kind: 'image', type: 'image', part: imageMessage };
  if (videoMessage) return { kind: 'video', type: 'video', part: videoMessage };
  if (audioMessage) return { kind: 'audio', type: 'audio', part: audioMessage };
  if (documentMessage) return { kind: 'document', type: 'document', part: documentMessage };
  if (stickerMessage) return { kind: 'image', type: 'sticker', part: stickerMessage };
  return null;
}

/** Media that only this account can read. */
export function inboundMedia(
  library: Library,
  socket: LibrarySocket,
  { kind, type, part }: MediaPart,
): InboundMedia {
  const { mediaKey, directPath } = part;
  const facts = {
    kind,
    mimeType: part.mimetype?.split(';')[0]?.trim() || null,
    fileName: part.fileName || null,
    size: part.fileLength ? numberOf(part.fileLength) : null,
    url: null,
  };
  // The sender writes the address: only a path on the network's own host is followed.
  if (!mediaKey || !directPath?.startsWith('/')) return facts;
  return {
    ...facts,
    async open(signal: AbortSignal): Promise<Readable> {
      const stream = await beforeAbort(
        signal,
        library.downloadContentFromMessage({ mediaKey, directPath }, type, {
          host: socket.getMediaHost(),
        }),
      );
      signal.addEventListener('abort', () => stream.destroy(new Error('given up')), { once: true });
      return stream;
    },
  };
}

function numberOf(value: number | Long): number {
  return typeof value === 'number' ? value : value.toNumber();
}
