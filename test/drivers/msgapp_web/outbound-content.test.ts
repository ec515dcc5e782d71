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

type Upload = Parameters<typeof builtContentOf>[1]['waUploadToServer'];

function built(waUploadToServer: Upload, timeoutMs?: number) {
  const port = new MemoryPort(silent);
  port.media.set(url, file);
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
