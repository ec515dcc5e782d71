import type { AnyMessageContent } from 'baileys';
import type { MediaFile, OutboundMessage, Port } from '../../core/contracts/driver.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';

/** How long media may take that a far side asks for again, in milliseconds. */
const againTimeoutMs = 60_000;

/**
 * A message as the library sends it, its media fetched.
 * @throws DriverError as `Port.fetchMedia` does
 */
export async function outboundContentOf(
  port: Port,
  message: OutboundMessage,
  signal: AbortSignal,
): Promise<AnyMessageContent> {
  if (message.media === null) return textContent(message.text);
  const file = await port.fetchMedia(message.media, signal);
  return mediaContent(message.text, file);
}

/** The same, media uploaded, ready to be encrypted once more for a far side that asks again. */
export async function builtContentOf(
  library: Library,
  socket: LibrarySocket,
  port: Port,
  message: OutboundMessage,
): Promise<object> {
  const content = await outboundContentOf(port, message, AbortSignal.timeout(againTimeoutMs));
  return await library.generateWAMessageContent(content, {
    upload: socket.waUploadToServer,
    logger: libraryLog(port.log, ''),
  });
}

/** Without a preview: the library would fetch the addresses in the text. */
function textContent(text: string): AnyMessageContent {
  return { text, linkPreview: null };
}

function mediaContent(text: string, file: MediaFile): AnyMessageContent {
  const media = { stream: file.stream() };
  const { mimeType: mimetype, fileName } = file;
  const caption = text === '' ? {} : { caption: text };
  switch (file.kind) {
    case 'image':
      // An empty one: nothing here can make a real one.
      return { image: media, mimetype, jpegThumbnail: '', ...caption };
    case 'video':
      return { video: media, mimetype, jpegThumbnail: '', ...caption };
    case 'audio':
      // The network's audio has no caption.
      if (text === '') return { audio: media, mimetype };
      return { document: media, mimetype, fileName, ...caption };
    case 'document':
      return { document: media, mimetype, fileName, ...caption };
  }
}
