import type { MediaFile } from '../../core/contracts/driver.ts';

/** Formats that all apps of the network show or play in the conversation. Source: the list of its interface for businesses. */
const native: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/png',
  'video/mp4',
  'video/3gpp',
  'audio/mpeg',
  'audio/mp4',
  'audio/aac',
  'audio/amr',
]);

/** Where the name of the codec begins in the first page of an Ogg file, in bytes. */
const oggHeaderBytes = 28;
const opusMark = Buffer.from('OpusHead');

/**
 * The type under which a picture, film or sound goes out as one; null: the apps would not open it, so that it has to go
 * out as a document.
 * @throws what the stream of the file fails with
 */
export async function nativeTypeOf(file: MediaFile): Promise<string | null> {
  if (file.kind === 'document') return null;
  if (native.has(file.mimeType)) return file.mimeType;
  // The apps play no other sound in an Ogg file, and want its codec named.
  const isOpus = file.mimeType === 'audio/ogg' && (await holdsOpus(file));
  return isOpus ? 'audio/ogg; codecs=opus' : null;
}

async function holdsOpus(file: MediaFile): Promise<boolean> {
  const end = oggHeaderBytes + opusMark.length;
  let head: Buffer = Buffer.alloc(0);
  for await (const chunk of file.stream()) {
    head = Buffer.concat([head, chunk]);
    if (head.length >= end) break;
  }
  return head.subarray(oggHeaderBytes, end).equals(opusMark);
}
