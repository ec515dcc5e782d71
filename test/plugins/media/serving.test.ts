import { Readable } from 'node:stream';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { createLog } from '../../../core/log.ts';
import { guardServer } from '../../../plugins/api/error-handler.ts';
import { MediaAddresses } from '../../../plugins/media/addresses.ts';
import { serveMedia } from '../../../plugins/media/serving.ts';
import type { MediaStore } from '../../../plugins/media/store/store.ts';

const key = '0'.repeat(32);

/** Serves one file of three bytes; answers a path to it, and what the log says. */
async function serving(t: Test, open: MediaStore['open']) {
  const lines: string[] = [];
  const log = createLog('warn', { write: (line) => lines.push(line) });
  const app = Fastify();
  t.teardown(() => app.close());
  guardServer(app, { log, bodyLimit: 1_000, metrics: { refused: () => undefined } });
  const addresses = new MediaAddresses({
    keys: [Buffer.alloc(32, 7)],
    lifetimeMs: 60_000,
    publicUrl: () => 'http://gateway.example',
    now: Date.now,
  });
  const store: MediaStore = {
    put: async () => undefined,
    open,
    remove: async () => undefined,
    isOfOneFile: () => false,
    close: () => undefined,
  };
  const file = { key, tenantId: 'ten_a', mimeType: 'image/png', fileName: 'a.png', size: 3 };
  serveMedia(app, { addresses, store, find: async () => file });
  const { pathname, search } = new URL(addresses.mint(key));
  return { app, lines, url: `${pathname}${search}` };
}

t.test('a file whose store is away is 503 and can be asked for again', async (t) => {
  const { app, lines, url } = await serving(t, async () => {
    throw new Error('the bucket is away');
  });
  const answer = await app.inject({ url });
  t.equal(answer.statusCode, 503);
  t.match(answer.json(), { error_code: 'unavailable' });
  t.equal(answer.headers['retry-after'], '1');
  t.match(lines, [/the bucket is away/], 'the log says why');
});

t.test('a file that breaks before its first byte is 503, and nothing keeps that', async (t) => {
  const { app, lines, url } = await serving(t, async () => {
    return new Readable({
      read() {
        this.destroy(new Error('the bucket broke off'));
      },
    });
  });
  for (const headers of [{}, { range: 'bytes=1-1' }]) {
    const answer = await app.inject({ url, headers });
    t.match([answer.statusCode, answer.json()], [503, { error_code: 'unavailable' }]);
    for (const name of ['cache-control', 'content-disposition', 'content-range', 'accept-ranges']) {
      t.notOk(name in answer.headers, name);
    }
  }
  t.match(lines, [/the bucket broke off/, /the bucket broke off/], 'the log says why');
});

t.test('HEAD says whether the store has the file, and knows no ranges', async (t) => {
  let bytes: Readable | null = null;
  const { app, url } = await serving(t, async () => bytes);
  const head = () => app.inject({ url, method: 'HEAD', headers: { range: 'bytes=1-1' } });
  t.match(await head(), { statusCode: 410 }, 'one that it has lost');
  bytes = Readable.from(['a']);
  const answer = await head();
  t.equal(answer.statusCode, 200);
  t.match(answer.headers, { 'content-length': '3', 'accept-ranges': 'bytes' });
  t.notOk('content-range' in answer.headers);
  t.ok(bytes.destroyed, 'what was opened is closed');
  bytes = Readable.from(['b']);
  const part = await app.inject({ url, headers: { range: 'bytes=1-1' } });
  t.match([part.statusCode, part.headers['content-range'], part.body], [206, 'bytes 1-1/3', 'b']);
});
