import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto';
import { Readable, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import type { proto } from 'baileys';
import { DriverError } from '../../core/contracts/driver.ts';
import type { Library } from './library.ts';

const inflated = promisify(inflate);

/** The end of a file on the network's media host: the start of an HMAC of what is before it, in bytes. */
const macBytes = 10;
/** The network's media host, where a socket has not named another. */
const usualHost = 'mmg.whatsapp.net';
/** Answers below 500 after which another try may bring the file. */
const transient: readonly number[] = [408, 425, 429];

type Downloads = Pick<
  Library,
  'downloadContentFromMessage' | 'downloadAndProcessHistorySyncNotification'
>;

/**
 * Downloads in place of the library's, whose error of a connection that breaks in the middle has no listener and ends the
 * process. Here it is an error of the stream, as is a file that was cut or changed.
 * @param patience options under which a history is fetched
 */
export function downloadsOf(library: Library, patience: RequestInit): Downloads {
  const downloadContentFromMessage: Downloads['downloadContentFromMessage'] = async (
    { mediaKey, directPath, url },
    type,
    { host = hostOf(url) ?? usualHost, options = {} } = {},
  ) => {
    const keys = await library.getMediaKeys(mediaKey, type);
    const headers = { origin: library.DEFAULT_ORIGIN };
    const address = directPath ? `https://${host}${directPath}` : (url ?? '');
    const response = await fetch(address, { ...options, headers });
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw failureOf(response.status);
    }
    // Node's own types of `fetch` and of streams declare the body apart from each other.
    const source = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
    const file = decrypting(keys.cipherKey, keys.iv, keys.macKey ?? Buffer.alloc(0));
    source.on('error', (error) => file.destroy(error));
    file.once('close', () => source.destroy());
    return source.pipe(file);
  };
  return {
    downloadContentFromMessage,
    async downloadAndProcessHistorySyncNotification(notification, options, log) {
      const { initialHistBootstrapInlinePayload: inline } = notification;
      const given = { options: { ...patience, ...options } };
      const packed =
        inline ??
        (await buffer(await downloadContentFromMessage(notification, 'md-msg-hist', given)));
      return library.processHistoryMessage(await unpacked(library, packed), log);
    },
  };
}

async function unpacked(library: Library, packed: Uint8Array): Promise<proto.HistorySync> {
  try {
    return library.proto.HistorySync.decode(await inflated(packed));
  } catch (cause) {
    const said = 'the history that the phone has handed over cannot be read';
    throw new DriverError('media_unavailable', said, { certain: true, cause });
  }
}

/** Final where the host has no such file, or will not give it. */
function failureOf(status: number): Error {
  const said = `the network's media host answered ${status}`;
  if (status >= 500 || transient.includes(status)) return new Error(said);
  return new DriverError('media_unavailable', said, { certain: true });
}

function hostOf(url: string | null | undefined): string | null {
  return url && URL.canParse(url) ? new URL(url).host : null;
}

/** Decrypts a file as it comes; it fails at the end where the file is cut or changed. */
function decrypting(cipherKey: Uint8Array, iv: Uint8Array, macKey: Uint8Array): Transform {
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv);
  const mac = createHmac('sha256', macKey).update(iv);
  let rest: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const all = Buffer.concat([rest, chunk]);
      const end = Math.max(0, all.length - macBytes);
      rest = all.subarray(end);
      mac.update(all.subarray(0, end));
      done(null, decipher.update(all.subarray(0, end)));
    },
    flush(done) {
      const wanted = mac.digest().subarray(0, macBytes);
      if (rest.length !== macBytes || !timingSafeEqual(rest, wanted)) {
        return done(new Error('the file was cut or changed on its way'));
      }
      done(null, decipher.final());
    },
  });
}
