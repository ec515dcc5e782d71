import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { tl } from '@mtcute/core';
import { downloadAsIterable } from '@mtcute/core/methods.js';
import { DriverError, type InboundMedia, type MediaKind } from '../../../core/contracts/driver.ts';
import { CallLimit } from '../call-limit.ts';
import type { Client } from '../client.ts';
import { loggableError, meaningOf } from '../rpc-errors.ts';

type Location = tl.RawInputPhotoFileLocation | tl.RawInputDocumentFileLocation;

interface Found extends Omit<InboundMedia, 'url' | 'open'> {
  readonly location: Location;
  readonly dcId: number;
}

/** The attachment of a message, to be opened over this client; null when it has none. */
export function attachmentOf(
  client: Client,
  media: tl.TypeMessageMedia | undefined,
): InboundMedia | null {
  const found = foundIn(media);
  if (found === null) return null;
  const { location, dcId, ...described } = found;
  return { ...described, url: null, open: (signal) => open(client, found, signal) };
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
 * meanwhile, the failure says that the message comes again with it.
 */
async function open(client: Client, { location, dcId, size }: Found, signal: AbortSignal) {
  const limit = new CallLimit([client.signal, signal], null);
  const abortSignal = limit.signal;
  const failure = (error: Error): Error => {
    if (client.signal.aborted) return comesAgain(error);
    return meaningOf(error)?.kind === 'refused' ? refused(error) : error;
  };
  const chunks = downloadAsIterable(client.library, location, {
    dcId,
    ...(size === null ? {} : { fileSize: size }),
    abortSignal,
  });
  const stream = Readable.from(chunks, { objectMode: false });
  // Errors without a reader: nobody reads when opening was given up.
  stream.on('error', () => undefined);
  stream.once('close', () => limit.release());
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

function comesAgain(cause: Error): DriverError {
  return new DriverError('media_unavailable', 'the connection to the network ended', {
    certain: true,
    retryAfterMs: 0,
    cause,
  });
}

/** Another try would be refused, too. */
function refused(cause: Error): DriverError {
  const message = `the network refuses the file with ${loggableError(cause)}`;
  return new DriverError('media_unavailable', message, { certain: true, cause });
}
