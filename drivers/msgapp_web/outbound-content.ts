import type { AnyMessageContent } from 'baileys';
import type { MediaFile, OutboundMessage, Port } from '../../core/contracts/driver.ts';
import { untilAborted } from '../../core/waiting.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';
import { nativeTypeOf } from './native-media.ts';
import { requireTemporaryRoom } from './temporary-room.ts';

/** How long an upload may make no progress, in milliseconds. */
export const uploadSilenceMs = 60_000;
/** How long media may take to be fetched and uploaded that a far side asks for again, in milliseconds. */
const againTimeoutMs = 180_000;

/**
 * Fetches the media of a message, and answers how the message is made as the library sends it: that opens the file, which
 * only the library closes.
 * @throws DriverError as `Port.fetchMedia` does
 * @throws NoTemporaryRoom
 */
export async function outboundContentOf(
  port: Port,
  message: OutboundMessage,
  signal: AbortSignal,
): Promise<() => AnyMessageContent> {
  if (message.media === null) return () => textContent(message.text);
  const file = await port.fetchMedia(message.media, signal);
  await requireTemporaryRoom(file.size);
  const nativeType = await nativeTypeOf(file);
  return () => mediaContent(message.text, file, nativeType);
}

/**
 * The same, media uploaded, ready to be encrypted once more for a far side that asks again. The library takes no other
 * receipt of the account meanwhile, so that it ends in time.
 * @throws Error when it does not work out, or takes too long
 */
export async function builtContentOf(
  library: Library,
  socket: Pick<LibrarySocket, 'waUploadToServer'>,
  port: Port,
  message: OutboundMessage,
  timeoutMs = againTimeoutMs,
): Promise<object> {
  const over = new AbortController();
  const late = new Error('media that was asked for again took too long');
  const timer = setTimeout(() => over.abort(late), timeoutMs);
  const build = async () =>
    await library.generateWAMessageContent(
      (await outboundContentOf(port, message, over.signal))(),
      {
        upload: socket.waUploadToServer,
        mediaUploadTimeoutMs: uploadSilenceMs,
        logger: libraryLog(port.log, ''),
      },
    );
  try {
    return await untilAborted(over.signal, build());
  } finally {
    clearTimeout(timer);
    // The file is not needed any more.
    over.abort(late);
  }
}

/** Without a preview: the library would fetch the addresses in the text. */
function textContent(text: string): AnyMessageContent {
  return { text, linkPreview: null };
}

/** @param nativeType the type of a picture, film or sound; null: the file goes out as a document */
function mediaContent(text: string, file: MediaFile, nativeType: string | null): AnyMessageContent {
  const media = { stream: file.stream() };
  const { mimeType, fileName } = file;
  const caption = text === '' ? {} : { caption: text };
  const asDocument = { document: media, mimetype: mimeType, fileName, ...caption };
  if (nativeType === null) return asDocument;
  const mimetype = nativeType;
  switch (file.kind) {
    case 'image':
      // An empty one: nothing here can make a real one.
      return { image: media, mimetype, jpegThumbnail: '', ...caption };
    case 'video':
      return { video: media, mimetype, jpegThumbnail: '', ...caption };
    case 'audio':
      // The network's audio has no caption.
      return text === '' ? { audio: media, mimetype } : asDocument;
    case 'document':
      return asDocument;
  }
}
