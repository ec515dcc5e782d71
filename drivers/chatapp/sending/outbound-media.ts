import { Readable } from 'node:stream';
import type { tl } from '@mtcute/core';
import { uploadFile } from '@mtcute/core/methods.js';
import { DriverError, type MediaFile } from '../../../core/contracts/driver.ts';
import { type CallLimits, type Client, NoAnswer } from '../client.ts';
import { contactWait, type NamedWaits } from '../named-waits.ts';
import { isRpcErrorNamed, meaningOf } from '../rpc-errors.ts';

/** Pause after an upload that failed although the connection is up, in milliseconds. */
const failedPauseMs = 5_000;

/** The method by which waits for uploads are noted: one wait holds for small and large files. */
const uploading = 'upload.saveFilePart';
const toWait = 'the network asks to wait before it takes a file';

/** Kinds of pictures that the network shows as photos, under names with these endings; it takes others as files. */
const photos: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
};
/** The network takes no larger photo. In bytes. */
const largestPhoto = 10_000_000;

/** Dependencies of an upload. */
export interface UploadParts {
  readonly client: Client;
  readonly waits: NamedWaits;
}

/** An uploaded file. */
export interface Uploaded {
  readonly media: tl.TypeInputMedia;
  /** A photo as a file, should the network not take it as one; null: it is one already. */
  readonly asFile: tl.TypeInputMedia | null;
}

/** Refusals of a picture as a photo. Source: the network's list of errors. */
const notPhotos: readonly string[] = [
  'PHOTO_INVALID_DIMENSIONS',
  'PHOTO_SAVE_FILE_INVALID',
  'PHOTO_EXT_INVALID',
  'IMAGE_PROCESS_FAILED',
];

/** Whether the network refused a picture as a photo: it may take it as a file. */
export function isNotPhoto(error: unknown): boolean {
  return isRpcErrorNamed(error, ...notPhotos);
}

/** To be called also before a file is fetched for an upload. @throws DriverError while a wait for uploads is ahead */
export function refuseInsideWait(waits: NamedWaits): void {
  waits.refuseInside(uploading, toWait);
}

/**
 * Uploads a file; answers it as a message carries it.
 * @param within how long it may take, milliseconds
 * @throws DriverError, or the refusal of the network; nothing was sent then
 */
export async function upload(
  { client, waits }: UploadParts,
  file: MediaFile,
  { signal, within }: Required<CallLimits>,
): Promise<Uploaded> {
  refuseInsideWait(waits);
  const { fileName, mimeType, size } = file;
  const ending = photoEnding(file);
  const stream = file.stream();
  try {
    const { inputFile } = await client.run(
      (library, abortSignal) =>
        uploadFile(library, {
          // Of a stream of Node's own file system the library would take the path for the name.
          file: Readable.toWeb(stream),
          fileName: ending === null ? fileName : `photo.${ending}`,
          fileSize: size,
          fileMime: mimeType,
          abortSignal,
        }),
      { signal, within },
    );
    return mediaOf(file, inputFile);
  } catch (error) {
    // No message was handed over yet.
    if (signal.aborted || client.signal.aborted) throw notUploaded(error, 0);
    waits.note(uploading, error);
    const meaning = meaningOf(error);
    if (meaning?.kind === 'wait') throw contactWait(toWait, meaning.ms, error);
    throw error instanceof NoAnswer ? notUploaded(error, failedPauseMs) : error;
  } finally {
    stream.destroy();
  }
}

/** The ending of a photo's name; null: the network takes it as a file. */
function photoEnding({ mimeType, size }: MediaFile): string | null {
  return size <= largestPhoto ? (photos[mimeType] ?? null) : null;
}

function mediaOf(given: MediaFile, file: tl.TypeInputFile): Uploaded {
  const { kind, mimeType, fileName } = given;
  const attributes: tl.TypeDocumentAttribute[] = [{ _: 'documentAttributeFilename', fileName }];
  if (kind === 'audio') attributes.push({ _: 'documentAttributeAudio', duration: 0 });
  if (kind === 'video') {
    attributes.push({ _: 'documentAttributeVideo', duration: 0, w: 0, h: 0 });
  }
  const asFile = { _: 'inputMediaUploadedDocument', file, mimeType, attributes } as const;
  if (photoEnding(given) === null) return { media: asFile, asFile: null };
  return { media: { _: 'inputMediaUploadedPhoto', file }, asFile };
}

function notUploaded(cause: unknown, retryAfterMs: number): DriverError {
  return new DriverError('not_uploaded', 'the media was not uploaded', {
    certain: true,
    retryAfterMs,
    concerns: 'contact',
    cause,
  });
}
