import Fastify from 'fastify';
import t from 'tap';
import { createLog } from '../../../core/log.ts';
import { guardServer } from '../../../plugins/api/error-handler.ts';
import { MediaAddresses } from '../../../plugins/media/addresses.ts';
import { serveMedia } from '../../../plugins/media/serving.ts';
import type { MediaStore } from '../../../plugins/media/store/store.ts';

const key = '0'.repeat(32);

t.test('a file whose store is away is 503 and can be asked for again', async (t) => {
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
    open: async () => {
      throw new Error('the bucket is away');
    },
    remove: async () => undefined,
    isOfOneFile: () => false,
    close: () => undefined,
  };
  const file = { key, tenantId: 'ten_a', mimeType: 'image/png', fileName: 'a.png', size: 3 };
  serveMedia(app, { addresses, store, find: async () => file });
  const { pathname, search } = new URL(addresses.mint(key));
  const answer = await app.inject({ url: `${pathname}${search}` });
  t.equal(answer.statusCode, 503);
  t.match(answer.json(), { error_code: 'unavailable' });
  t.equal(answer.headers['retry-after'], '1');
  t.match(lines, [/the bucket is away/], 'the log says why');
});
