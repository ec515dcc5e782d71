import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { DriverError } from '../../../core/contracts/driver.ts';
import { drip, file, flood, mediaServer, picture } from '../../harness/media-server.ts';
import { until } from '../../harness/story.ts';
import { mediaWorld } from './world.ts';

const patient = (): AbortSignal => new AbortController().signal;

async function failure(work: Promise<unknown>): Promise<DriverError> {
  const error = await work.then(
    () => new Error('it was fetched'),
    (reason: unknown) => reason,
  );
  if (error instanceof DriverError) return error;
  throw error;
}

t.test('a fetched file exists until it is released', async (t) => {
  const server = await mediaServer(t);
  const { media, files } = await mediaWorld(t);
  const disposition = { 'content-disposition': 'attachment; filename="the map.png"' };
  server.answer('/a', file('application/octet-stream', picture, disposition));
  server.answer('/b.csv', file('text/csv; charset=utf-8', 'a;b\n1;2\n'));
  server.answer('/to', (_, response) => response.writeHead(302, { location: '/b.csv' }).end());
  const first = await media.fetch({ url: `${server.url}/a` }, 'ten_a', patient(), null);
  const { stream, ...facts } = first.file;
  t.same(facts, {
    kind: 'image',
    mimeType: 'image/png',
    fileName: 'the map.png',
    size: picture.length,
  });
  t.ok((await buffer(stream())).equals(picture));
  t.ok((await buffer(stream())).equals(picture), 'from the start again');
  const over = new AbortController();
  const second = await media.fetch({ url: `${server.url}/to` }, 'ten_a', over.signal, null);
  t.match(second.file, { kind: 'document', mimeType: 'text/csv', size: 8 });
  t.equal((await files('spool')).length, 2);
  first.release();
  first.release();
  over.abort();
  await until('an empty spool', async () => (await files('spool')).length === 0 || undefined);
});

t.test('media that cannot be sent is refused with its reason', async (t) => {
  const server = await mediaServer(t);
  const { media, files } = await mediaWorld(t, { timeoutMs: 10_000 });
  const hasty = await mediaWorld(t, { timeoutMs: 2_000 });
  const { port } = new URL(server.url);
  server.answer('/page', file('text/html', '<p>', {}));
  server.answer('/hidden', file('image/png', '<html>'));
  server.answer('/empty', file('image/png', ''));
  server.answer('/zipped', file('image/png', picture, { 'content-encoding': 'gzip' }));
  server.answer('/declared', flood(1_000_001, true));
  server.answer('/untold', flood(1_000_001, false));
  server.answer('/drip', drip());
  server.answer('/short', (_, response) => {
    response.writeHead(200, { 'content-type': 'image/png', 'content-length': 1_000 });
    response.write(picture, () => response.destroy());
  });
  for (const status of [204, 403, 404, 429, 503]) {
    server.answer(`/${status}`, (_, response) => response.writeHead(status).end());
  }
  const inside = { location: `http://127.0.0.2:${port}/` };
  server.answer('/inside', (_, response) => response.writeHead(302, inside).end());
  const rows: readonly [string, string, RegExp, boolean][] = [
    ['/page', 'media_type_not_allowed', /text\/html/, false],
    ['/hidden', 'media_type_not_allowed', /text\/html/, false],
    ['/empty', 'media_unavailable', /empty/, false],
    ['/zipped', 'media_unavailable', /compressed/, false],
    ['/declared', 'media_too_large', /1000000 bytes/, false],
    ['/untold', 'media_too_large', /1000000 bytes/, false],
    ['/drip', 'media_unavailable', /within 2 s/, true],
    ['/short', 'media_unavailable', /./, true],
    ['/204', 'media_unavailable', /204/, false],
    ['/403', 'media_unavailable', /403/, false],
    ['/404', 'media_unavailable', /404/, false],
    ['/429', 'media_unavailable', /429/, true],
    ['/503', 'media_unavailable', /503/, true],
    ['/inside', 'media_url_not_allowed', /./, false],
    [`http://127.0.0.2:${port}/a.png`, 'media_url_not_allowed', /./, false],
    ['http://user:word@127.0.0.1/a.png', 'media_url_not_allowed', /./, false],
    ['http://127.0.0.1:1/a.png', 'media_unavailable', /./, true],
  ];
  await Promise.all(
    rows.map(async ([path, code, message, mayPass]) => {
      const url = path.startsWith('/') ? `${server.url}${path}` : path;
      const by = path === '/drip' ? hasty.media : media;
      const error = await failure(by.fetch({ url }, 'ten_a', patient(), null));
      const [retryAfterMs, concerns] = mayPass ? [1_000, 'contact'] : [null, 'message'];
      t.match(error, { code, message, certain: true, retryAfterMs, concerns }, path);
      t.notMatch(error.message, '127.0.0', 'no address that was looked up');
    }),
  );
  t.equal(server.asked.get('/page'), 1);
  t.same([...(await files('spool')), ...(await hasty.files('spool'))], [], 'nothing is left');

  const again = () => failure(media.fetch({ url: `${server.url}/503` }, 'ten_a', patient(), null));
  t.equal((await again()).retryAfterMs, 5_000);
  t.equal((await again()).retryAfterMs, null, 'the third try is the last');

  const over = new AbortController();
  const cut = failure(media.fetch({ url: `${server.url}/drip` }, 'ten_a', over.signal, null));
  await pause(100);
  over.abort();
  const ended = { code: 'media_unavailable', certain: true, retryAfterMs: 0, concerns: 'contact' };
  t.match(await cut, ended);
  const late = failure(media.fetch({ url: `${server.url}/a` }, 'ten_a', over.signal, null));
  t.match(await late, { retryAfterMs: 0 });
  t.same(await files('spool'), []);
});

t.test('the line of a file that cannot be kept names its message', async (t) => {
  const server = await mediaServer(t);
  server.answer('/a', file('image/png', picture));
  const { media, folder, lines } = await mediaWorld(t);
  await rm(join(folder, 'spool'), { recursive: true, force: true });
  await writeFile(join(folder, 'spool'), 'no folder');
  await failure(media.fetch({ url: `${server.url}/a` }, 'ten_a', patient(), 'msg_1'));
  const msg = 'media that is to be sent could not be kept';
  t.match(
    lines.map((line) => JSON.parse(line)),
    [{ msg, tenant: 'ten_a', message: 'msg_1' }],
  );
});

t.test('a server that is silent is given up long before one that is slow', async (t) => {
  const server = await mediaServer(t);
  const { media, files } = await mediaWorld(t, { silenceMs: 3_000, timeoutMs: 8_000 });
  server.answer('/hangs', () => undefined);
  server.answer('/stalls', (_, response) => response.writeHead(200).write(picture));
  server.answer('/drips', drip());
  await Promise.all(
    (
      [
        ['/hangs', 'the server sent nothing for 3 s'],
        ['/stalls', 'the server sent nothing for 3 s'],
        ['/drips', 'there was no complete answer within 8 s'],
      ] as const
    ).map(async ([path, message]) => {
      const url = `${server.url}${path}`;
      const error = await failure(media.fetch({ url }, 'ten_a', patient(), null));
      t.match(error, { code: 'media_unavailable', message, retryAfterMs: 1_000 }, path);
    }),
  );
  t.same(await files('spool'), []);
});

t.test('a host that refuses requests without a User-Agent gives its file', async (t) => {
  const server = await mediaServer(t);
  const { media } = await mediaWorld(t);
  const said: (string | undefined)[] = [];
  server.answer('/to', (_, response) => response.writeHead(302, { location: '/b' }).end());
  server.answer('/b', (request, response) => {
    const agent = request.headers['user-agent'];
    said.push(agent);
    const answer = agent === undefined ? response.writeHead(403) : response;
    answer.end(picture);
  });
  const { file: fetched, release } = await media.fetch(
    { url: `${server.url}/to` },
    'ten_a',
    patient(),
    null,
  );
  t.match(fetched, { mimeType: 'image/png' });
  t.same(said, ['Media-Fetch/1.0']);
  release();
});

t.test('a large file does not pass through memory', async (t) => {
  const size = 64 * 1024 * 1024;
  const server = await mediaServer(t);
  const { media } = await mediaWorld(t, { maxBytes: size, timeoutMs: 60_000 });
  server.answer('/large.png', flood(size, false));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const before = used();
  let most = 0;
  let samples = 0;
  // Seldom: a collection stops everything else.
  const watch = setInterval(() => {
    samples += 1;
    most = Math.max(most, used() - before);
  }, 150);
  const { file: large } = await media.fetch(
    { url: `${server.url}/large.png` },
    'ten_a',
    patient(),
    null,
  );
  clearInterval(watch);
  t.equal(large.size, size);
  t.ok(samples > 0, 'the memory was measured');
  t.ok(most < size / 2, `at most ${Math.round(most / 1024 / 1024)} MiB were held at once`);
});
