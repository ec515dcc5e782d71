import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { tl } from '@mtcute/core';
import { downloadAsIterable } from '@mtcute/core/methods.js';
import { DriverError, type InboundMedia, type MediaKind } from '../../../core/contracts/driver.ts';
import { CallLimit } from '../call-limit.ts';
import type { Client } from '../client.ts';
import type { NamedWaits } from '../named-waits.ts';
import { loggableError, meaningOf } from '../rpc-errors.ts';
import { UnreadParts } from './unread-parts.ts';

type Location = tl.RawInputPhotoFileLocation | tl.RawInputDocumentFileLocation;

interface Found extends Omit<InboundMedia, 'url' | 'open'> {
  readonly location: Location;
  readonly dcId: number;
}

/** The call that brings a part of a file. */
export const download = 'upload.getFile';

/** Dependencies of an attachment. */
export interface AttachmentParts {
  readonly client: Client;
  readonly waits: NamedWaits;
}

/** The attachment of a message, to be opened over this client; null when it has none. */
export function attachmentOf(
  parts: AttachmentParts,
  media: tl.TypeMessageMedia | undefined,
): InboundMedia | null {
  const found = foundIn(media);
  if (found === null) return null;
  const { location, dcId, ...described } = found;
  return { ...described, url: null, open: (signal) => open(parts, found, signal) };
}

function foundIn(media: tl.TypeMessageMedia | undefined): Found | null {
  if (media?._ === 'messageMediaPhoto') return photoOf(media.photo);
  if (media?._ === 'messageMediaDocument') return documentOf(media.document);
  return null;
}

function photoOf(photo: tl.TypePhoto | undefined): Found | null {
  if (photo?._ !== 'photo') return null;
  const sizes = photo.sizes.flatMap((size) => {
    if (size._ === 'photoSize') return [{ type: size.type, size: size.size }];
    if (size._ !== 'photoSizeProgressive') return [];
    return [{ type: size.type, size: Math.max(...size.sizes) }];
  });
  const largest = sizes.sort((one, other) => other.size - one.size)[0];
  if (largest === undefined) return null;
  const { id, accessHash, fileReference, dcId } = photo;
  return {
    kind: 'image',
    mimeType: 'image/jpeg',
    fileName: null,
    size: largest.size,
    dcId,
    location: {
      _: 'inputPhotoFileLocation',
      id,
      accessHash,
      fileReference,
      thumbSize: largest.type,
    },
  };
}

function documentOf(document: tl.TypeDocument | undefined): Found | null {
  if (document?._ !== 'document') return null;
  const { id, accessHash, fileReference, dcId, mimeType, size, attributes } = document;
  const named = attributes.find((one) => one._ === 'documentAttributeFilename');
  return {
    kind: kindOf(mimeType, attributes),
    mimeType: mimeType === '' ? null : mimeType,
    fileName: named?.fileName ?? null,
    size,
    dcId,
    location: { _: 'inputDocumentFileLocation', id, accessHash, fileReference, thumbSize: '' },
  };
}

/** A voice message and a round video note are what they say they are; a sticker is what its file is. */
function kindOf(mimeType: string, attributes: readonly tl.TypeDocumentAttribute[]): MediaKind {
  if (attributes.some((one) => one._ === 'documentAttributeAudio')) return 'audio';
  if (attributes.some((one) => one._ === 'documentAttributeVideo')) return 'video';
  const [family] = mimeType.split('/');
  return family === 'image' || family === 'video' || family === 'audio' ? family : 'document';
}

/**
 * The bytes as they come. Resolves once the first are there, so that a refusal is a rejection. When the connection ends
 * meanwhile, or the network asks to wait, the failure says that the message comes again.
 */
async function open(
  { client, waits }: AttachmentParts,
  { location, dcId, size }: Found,
  signal: AbortSignal,
) {
  const aheadMs = waits.leftMs(download);
  if (aheadMs > 0) throw comesAgain(toWait, aheadMs);
  const over = new AbortController();
  const limit = new CallLimit([client.signal, signal, over.signal], null);
  const abortSignal = limit.signal;
  const failure = (error: Error): Error => {
    if (client.signal.aborted) return comesAgain('the connection to the network ended', 0, error);
    const meaning = meaningOf(error);
    if (meaning?.kind === 'wait') return comesAgain(toWait, meaning.ms, error);
    return meaning?.kind === 'refused' ? refused(error) : error;
  };
  const unread = new UnreadParts();
  const parts = downloadAsIterable(client.library, location, {
    dcId,
    ...(size === null ? {} : { fileSize: size }),
    abortSignal,
    throttle: () => unread.room(),
  });
  const stream = Readable.from(unread.counted(parts), { objectMode: false });
  // Errors without a reader, too: nobody reads when opening was given up.
  stream.on('error', (error) => waits.note(download, error));
  stream.once('close', () => {
    // Parts that were not asked for yet: the library would still ask for them after a failure.
    over.abort();
    limit.release();
  });
  const giveUp = (): unknown => stream.destroy(failure(abortSignal.reason));
  abortSignal.addEventListener('abort', giveUp, { once: true });
  if (abortSignal.aborted) giveUp();
  try {
    await once(stream, 'readable', { signal: abortSignal });
  } catch (error) {
    throw error instanceof Error ? failure(error) : error;
  }
  return stream;
}

const toWait = 'the network asks to wait before it gives a file';

function comesAgain(message: string, retryAfterMs: number, cause?: Error): DriverError {
  return new DriverError('media_unavailable', message, { certain: true, retryAfterMs, cause });
}

/** Another try would be refused, too. */
function refused(cause: Error): DriverError {
  const message = `the network refuses the file with ${loggableError(cause)}`;
  return new DriverError('media_unavailable', message, { certain: true, cause });
}
