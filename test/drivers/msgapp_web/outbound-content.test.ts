import { Readable } from 'node:stream';
import t from 'tap';
import type { MediaFile, OutboundMessage } from '../../../core/contracts/driver.ts';
import { loadLibrary } from '../../../drivers/msgapp_web/library.ts';
import { builtContentOf } from '../../../drivers/msgapp_web/outbound-content.ts';
import { MemoryPort } from '../../../testing/contract/driver/port.ts';

const url = 'https://example.com/report.pdf';
const bytes = Buffer.from('%PDF-1.4 and so on');
const file: MediaFile = {
  kind: 'document',
  mimeType: 'application/pdf',
  fileName: 'report.pdf',
  size: bytes.length,
  stream: () => Readable.from([bytes]),
};
const message: OutboundMessage = {
  reference: 'msg_1',
  attempt: 1,
  to: { phone: '+12025550101', networkId: null },
  text: '',
  media: { url },
};
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const library = await loadLibrary();
// The library leaves the file of an upload that never ends.
process.env.TMPDIR = t.testdir({});

type Upload = Parameters<typeof builtContentOf>[1]['waUploadToServer'];

function built(waUploadToServer: Upload, timeoutMs?: number, sent = file) {
  const port = new MemoryPort(silent);
  port.media.set(url, sent);
  return builtContentOf(library, { waUploadToServer }, port, message, timeoutMs);
}

t.test('a file that is asked for again is uploaded, and may not stall for ever', async (t) => {
  let silenceMs: number | undefined;
  const content = await built(async (_, { timeoutMs }) => {
    silenceMs = timeoutMs;
    return { mediaUrl: url, directPath: '/v/1' };
  });
  t.match(content, { documentMessage: { directPath: '/v/1', fileName: 'report.pdf' } });
  t.equal(silenceMs, 60_000);
});

t.test('a media host that never ends an upload holds nothing up for ever', async (t) => {
  const started = performance.now();
  await t.rejects(
    built(() => new Promise(() => undefined), 100),
    { message: /took too long/ },
  );
  t.ok(performance.now() - started < 5_000);
});

/** The first page of an Ogg file, with sound of this codec. */
function ogg(codec: string): Buffer {
  return Buffer.concat([Buffer.from('OggS'), Buffer.alloc(24), Buffer.from(codec), bytes]);
}

t.test('a file goes out as what the apps of the network can open', async (t) => {
  const cases: readonly (readonly [MediaFile['kind'], string, string, string?, Buffer?])[] = [
    ['image', 'image/jpeg', 'imageMessage'],
    ['image', 'image/png', 'imageMessage'],
    ['image', 'image/webp', 'documentMessage'],
    ['image', 'image/gif', 'documentMessage'],
    ['image', 'image/heic', 'documentMessage'],
    ['image', 'image/tiff', 'documentMessage'],
    ['image', 'image/bmp', 'documentMessage'],
    ['video', 'video/mp4', 'videoMessage'],
    ['video', 'video/3gpp', 'videoMessage'],
    ['video', 'video/webm', 'documentMessage'],
    ['video', 'video/x-matroska', 'documentMessage'],
    ['audio', 'audio/mpeg', 'audioMessage'],
    ['audio', 'audio/mp4', 'audioMessage'],
    ['audio', 'audio/aac', 'audioMessage'],
    ['audio', 'audio/amr', 'audioMessage'],
    ['audio', 'audio/wav', 'documentMessage'],
    ['audio', 'audio/flac', 'documentMessage'],
    ['audio', 'audio/ogg', 'audioMessage', 'audio/ogg; codecs=opus', ogg('OpusHead')],
    ['audio', 'audio/ogg', 'documentMessage', 'audio/ogg', ogg('\u0001vorbis')],
    ['audio', 'audio/ogg', 'documentMessage', 'audio/ogg', Buffer.from('OggS')],
  ];
  for (const [kind, mimeType, part, mimetype = mimeType, given = bytes] of cases) {
    const stream = () => Readable.from([given.subarray(0, 20), given.subarray(20)]);
    const sent: MediaFile = { kind, mimeType, fileName: 'a file', size: given.length, stream };
    const content = await built(
      async () => ({ mediaUrl: url, directPath: '/v/1' }),
      undefined,
      sent,
    );
    const fileName = part === 'documentMessage' ? 'a file' : undefined;
    const fileLength = { low: given.length };
    t.match(content, { [part]: { mimetype, fileName, fileLength } }, `${mimeType} as ${part}`);
  }
});
