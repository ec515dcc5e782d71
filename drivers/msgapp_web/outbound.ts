import type { AnyMessageContent, BinaryNode } from 'baileys';
import {
  DriverError,
  type MediaFile,
  type OutboundMessage,
  type Port,
  type Sent,
} from '../../core/contracts/driver.ts';
import { destinationOf } from './addresses.ts';
import { beforeAbort } from './before-abort.ts';
import type { Library, LibrarySocket } from './library.ts';
import { libraryLog } from './library-log.ts';
import { refusalOf } from './receipts.ts';

/** How long the network may take to answer a send, in milliseconds. */
const answerTimeoutMs = 60_000;
/** Pause before a send is tried again that did not go out for a reason of our own; doubled each time. */
const againMs = 500;
/** How often such a send is tried. */
const attempts = 6;

/** Sends through one socket. */
export class Outbound {
  readonly #library: Library;
  readonly #socket: LibrarySocket;
  readonly #port: Port;
  readonly #onRestricted: () => void;
  readonly #sending = new Set<string>();

  /** @param onRestricted called when the network says that new contacts cannot be written to */
  constructor(library: Library, socket: LibrarySocket, port: Port, onRestricted: () => void) {
    this.#library = library;
    this.#socket = socket;
    this.#port = port;
    this.#onRestricted = onRestricted;
  }

  isSending(reference: string): boolean {
    return this.#sending.has(reference);
  }

  /**
   * @param signal aborts when nobody waits any more or the connection is over
   * @throws DriverError
   */
  async send(message: OutboundMessage, signal: AbortSignal): Promise<Sent> {
    if (signal.aborted) throw notConnected();
    const { reference } = message;
    const handed = { over: false };
    this.#sending.add(reference);
    try {
      const answer = await beforeAbort(signal, this.#exchange(message, handed, signal));
      if (answer === undefined) throw uncertain('no_answer', 'the network did not answer');
      return this.#sent(reference, answer);
    } catch (error) {
      if (error instanceof DriverError) throw error;
      if (handed.over) throw uncertain('connection_lost', 'the connection broke', error);
      if (signal.aborted) throw notConnected(error);
      throw new DriverError('not_sent', 'the message could not be encrypted or handed over', {
        certain: true,
        retryAfterMs: message.attempt < attempts ? againMs * 2 ** message.attempt : null,
        cause: error,
      });
    } finally {
      this.#sending.delete(reference);
    }
  }

  /** A message as the library sends it, media uploaded. */
  async contentOf(message: OutboundMessage, signal: AbortSignal): Promise<AnyMessageContent> {
    if (message.media === null) return textContent(message.text);
    const file = await this.#port.fetchMedia(message.media, signal);
    return mediaContent(message.text, file);
  }

  /** The same, ready to be encrypted once more for a far side that asks again. */
  async builtContentOf(message: OutboundMessage): Promise<object> {
    const content = await this.contentOf(message, AbortSignal.timeout(answerTimeoutMs));
    return await this.#library.generateWAMessageContent(content, {
      upload: this.#socket.waUploadToServer,
      logger: libraryLog(this.#port.log, ''),
    });
  }

  async #exchange(
    message: OutboundMessage,
    handed: { over: boolean },
    signal: AbortSignal,
  ): Promise<BinaryNode | undefined> {
    const { reference, to } = message;
    const destination = destinationOf(to);
    if (destination === null) {
      throw refused('unknown_contact', 'the contact has no address on this network');
    }
    if (to.phone !== null) await this.#refuseUnreachable(to.phone, destination);
    const content = await this.contentOf(message, signal);
    signal.throwIfAborted();
    const answer: Promise<BinaryNode | undefined> = this.#socket.waitForMessage(
      reference,
      answerTimeoutMs,
    );
    answer.catch(() => undefined);
    handed.over = true;
    try {
      await this.#socket.sendMessage(destination, content, { messageId: reference });
    } catch (error) {
      // Handing over fails only on a socket that is not open; before that nothing goes out.
      handed.over = !this.#socket.ws.isOpen;
      throw error;
    }
    return await answer;
  }

  /** @throws DriverError when the network does not know the number */
  async #refuseUnreachable(phone: string, destination: string): Promise<void> {
    if ((await this.#socket.signalRepository.lidMapping.getLIDForPN(destination)) !== null) return;
    const found = await this.#socket.onWhatsApp(phone);
    if (found?.some(({ exists }) => exists) === true) return;
    throw refused('not_on_network', `${phone} is not on this network`);
  }

  #sent(reference: string, { attrs }: BinaryNode): Sent {
    if (attrs.error) {
      if (attrs.error === '463') this.#onRestricted();
      const { code, message } = refusalOf(attrs.error);
      throw refused(code, message);
    }
    return { networkId: reference, at: attrs.t ? Number(attrs.t) * 1_000 : Date.now() };
  }
}

/** Nothing was sent, and nothing can be for now. */
export function notConnected(cause?: unknown): DriverError {
  return new DriverError('not_connected', 'the session is not connected', {
    certain: true,
    retryAfterMs: 0,
    cause,
  });
}

function refused(code: string, message: string): DriverError {
  return new DriverError(code, message, { certain: true });
}

function uncertain(code: string, message: string, cause?: unknown): DriverError {
  return new DriverError(code, message, { certain: false, retryAfterMs: 0, cause });
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
