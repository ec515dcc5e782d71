import type { ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { DriverError } from '../../../../core/contracts/driver.ts';
import { untilAborted } from '../../../../core/waiting.ts';
import { SessionAhead } from '../../../../plugins/media/ahead/session-ahead.ts';
import { Shelf } from '../../../../plugins/media/ahead/shelf.ts';
import { Slots } from '../../../../plugins/media/fetching/slots.ts';
import { drip, file, flood, mediaServer, picture } from '../../../harness/media-server.ts';
import { until } from '../../../harness/story.ts';
import { mediaWorld } from '../world.ts';

const patient = (): AbortSignal => new AbortController().signal;

async function failure(work: Promise<unknown>): Promise<DriverError> {
  const error = await work.then(
    () => new Error('it was fetched'),
    (reason: unknown) => reason,
  );
  if (error instanceof DriverError) return error;
  throw error;
}

t.test('a file is fetched once, lent for each try, and deleted when forgotten', async (t) => {
  const server = await mediaServer(t);
  const { media, files, counted } = await mediaWorld(t);
  const ahead = media.ahead('ten_a', patient());
  const map = { url: `${server.url}/map.png` };
  ahead.begin('m1', map);
  ahead.begin('m1', map);
  await ahead.settled('m1', map);
  for (const _ of ['first try', 'second try']) {
    await ahead.settled('m1', map);
    const lent = await ahead.take('m1', patient());
    if (lent === null) throw new Error('it was not fetched');
    t.match(lent.file, { mimeType: 'image/png', size: picture.length });
    t.ok((await buffer(lent.file.stream())).equals(picture));
    lent.release();
    lent.release();
  }
  t.equal(server.asked.get('/map.png'), 1);
  t.equal((await files('spool')).length, 1, 'kept for another try');
  ahead.forget('m1');
  ahead.forget('m1');
  t.equal(await ahead.take('m1', patient()), null);
  t.equal(await ahead.take('unknown', patient()), null);
  await ahead.settled('m2', map);
  ahead.forget('m2');
  await until('no file', async () => ((await files('spool')).length === 0 ? true : undefined));
  t.same(counted, ['fetched', 'taken', 'taken', 'fetched', 'dropped']);
});

t.test('what fails for good fails the message with its reason', async (t) => {
  const server = await mediaServer(t);
  const { media, files, counted } = await mediaWorld(t, { silenceMs: 3_000 });
  server.answer('/hangs', () => undefined);
  server.answer('/503', (_, response) => response.writeHead(503).end());
  server.answer('/404', (_, response) => response.writeHead(404).end());
  server.answer('/page', file('text/html', '<p>'));
  server.answer('/large', flood(1_000_001, false));
  let failures = 2;
  server.answer('/mends', (request, response) => {
    if (failures-- > 0) response.writeHead(503).end();
    else file('image/png', picture)(request, response);
  });
  const ahead = media.ahead('ten_a', patient());
  const rows = [
    ['/hangs', 'media_unavailable', 'the server sent nothing for 3 s', 3],
    ['/503', 'media_unavailable', 'the server answered with status 503', 3],
    ['/404', 'media_unavailable', 'the server answered with status 404', 1],
    ['/page', 'media_type_not_allowed', /text\/html/, 1],
    ['/large', 'media_too_large', /1000000 bytes/, 1],
  ] as const;
  await Promise.all([
    ...rows.map(async ([path, code, message, tries]) => {
      await ahead.settled(path, { url: `${server.url}${path}` });
      const error = await failure(ahead.take(path, patient()));
      t.match(error, { code, message, certain: true, retryAfterMs: null }, path);
      t.equal(server.asked.get(path), tries, `${path}: tries`);
      t.equal(await failure(ahead.take(path, patient())), error, 'it is not tried again');
    }),
    ahead.settled('/mends', { url: `${server.url}/mends` }),
  ]);
  t.equal((await ahead.take('/mends', patient()))?.file.size, picture.length, 'the third try');
  t.equal(counted.filter((outcome) => outcome === 'failed').length, rows.length);
  t.equal((await files('spool')).length, 1);
});

t.test('hanging files of one tenant hold up neither its others nor another tenant', async (t) => {
  const [hanging, dripping, well] = await Promise.all([1, 2, 3].map(() => mediaServer(t)));
  if (hanging === undefined || dripping === undefined || well === undefined) throw new Error();
  const { media } = await mediaWorld(t, { silenceMs: 60_000, timeoutMs: 60_000 });
  let open = 0;
  let most = 0;
  const held = (_: unknown, response: ServerResponse): void => {
    open += 1;
    most = Math.max(most, open);
    response.on('close', () => {
      open -= 1;
    });
  };
  const ended = new AbortController();
  const flooded = media.ahead('ten_a', ended.signal);
  for (let n = 0; n < 1_000; n += 1) {
    hanging.answer(`/${n}`, held);
    void flooded.settled(`hangs ${n}`, { url: `${hanging.url}/${n}` });
  }
  dripping.answer('/', drip());
  void flooded.settled('drips', { url: `${dripping.url}/` });
  const start = performance.now();
  await flooded.settled('good', { url: `${well.url}/good` });
  for (let n = 0; n < 20; n += 1) {
    const other = media.ahead(`ten_${n}`, patient());
    await other.settled('good', { url: `${hanging.url}/good` });
    t.equal((await other.take('good', patient()))?.file.size, picture.length);
  }
  t.ok(performance.now() - start < 10_000, 'nobody waited for a hanging file');
  t.equal(most, 2, 'a quarter of the slots hang');
  ended.abort();
  await until('all requests to end', async () => (open === 0 ? true : undefined));
  t.equal(
    [...hanging.asked.keys()].filter((path) => path !== '/good').length,
    2,
    'what waited is not begun after the end',
  );
});

t.test('so many files wait, and so many bytes', async (t) => {
  const server = await mediaServer(t);
  const size = 100_000;
  // 8 slots: two files of the largest size may wait.
  const { media, files, counted } = await mediaWorld(t, { maxBytes: 2 * size });
  const url = (name: string) => ({ url: `${server.url}/${name}` });
  const settle = () => pause(300);
  const ahead = media.ahead('ten_a', patient());
  for (let n = 0; n < 100; n += 1) ahead.begin(`m${n}`, url(`small${n}`));
  await until('four files', async () => ((await files('spool')).length === 4 ? true : undefined));
  await settle();
  t.equal((await files('spool')).length, 4, 'no more than four of one account');
  ahead.forget('m0');
  await until('the next', async () => (server.asked.get('/small4') === 1 ? true : undefined));
  await ahead.settled('m1', url('small1'));
  await until('one more', async () => (server.asked.get('/small5') === 1 ? true : undefined));
  await ahead.settled('m99', url('small99'));
  t.equal(server.asked.get('/small99'), 1, 'one that is due is fetched in any case');
  t.equal(server.asked.get('/small1'), 1, 'and one that is there only once');

  const others = media.ahead('ten_b', patient());
  const dropped = () => counted.filter((outcome) => outcome === 'dropped').length;
  const before = dropped();
  const large = Array.from({ length: 12 }, (_, n) => `large${n}`);
  const arriving = large.map((name) => {
    server.answer(`/${name}`, flood(size / 2, false));
    return others.settled(name, url(name));
  });
  const asked = () => large.filter((name) => server.asked.has(`/${name}`));
  await until('four to be asked for', async () => asked().length >= 4 || undefined);
  await settle();
  t.ok(asked().length >= 4 && asked().length <= 7, `${asked().length} of 12 while there is room`);
  for (const [n, name] of large.entries()) {
    await arriving[n];
    t.equal(others.isSettled(name), true, name);
    t.equal((await others.take(name, patient()))?.file.size, size / 2, name);
    others.forget(name);
  }
  t.same(
    large.map((name) => server.asked.get(`/${name}`)),
    large.map(() => 1),
    'each is fetched once',
  );
  t.equal(dropped(), before, 'none made room');

  const sessions = ['ten_c', 'ten_d', 'ten_e', 'ten_f', 'ten_g'].map((tenantId) => {
    return { name: `due of ${tenantId}`, ahead: media.ahead(tenantId, patient()) };
  });
  for (const { name, ahead } of sessions) {
    server.answer(`/${encodeURIComponent(name)}`, flood(size, false));
    await ahead.settled(name, url(encodeURIComponent(name)));
    t.equal(ahead.isSettled(name), true, 'a session that has nothing there waits for nobody');
  }
  const [first, , , last] = sessions;
  if (first === undefined || last === undefined) throw new Error();
  t.equal(first.ahead.isSettled(first.name), true, 'what waits longest goes out next');
  t.equal(last.ahead.isSettled(last.name), false, 'what came last made room');
  t.equal(await last.ahead.take(last.name, patient()), null);
  await last.ahead.settled(last.name, url(encodeURIComponent(last.name)));
  t.equal((await last.ahead.take(last.name, patient()))?.file.size, size, 'it was fetched again');
  t.equal(server.asked.get(`/${encodeURIComponent(last.name)}`), 2);
});

t.test('a file that waits too long is deleted', async (t) => {
  const server = await mediaServer(t);
  const { media, files, counted } = await mediaWorld(t, { keepMs: 200 });
  const ahead = media.ahead('ten_a', patient());
  const map = { url: `${server.url}/map.png` };
  await ahead.settled('m1', map);
  const lent = await ahead.take('m1', patient());
  await pause(400);
  t.equal((await files('spool')).length, 1, 'not while it is sent');
  lent?.release();
  await until('it to be deleted', async () =>
    (await files('spool')).length === 0 ? true : undefined,
  );
  await ahead.settled('m1', map);
  t.ok(await ahead.take('m1', patient()));
  t.equal(server.asked.get('/map.png'), 2);
  t.same(counted, ['fetched', 'taken', 'fetched', 'taken']);
});

t.test('the end of the session deletes its files', async (t) => {
  const server = await mediaServer(t);
  const { media, files, spool } = await mediaWorld(t);
  server.answer('/drips', drip());
  const over = new AbortController();
  const ahead = media.ahead('ten_a', over.signal);
  const [map, drips] = [{ url: `${server.url}/map.png` }, { url: `${server.url}/drips` }];
  await ahead.settled('m1', map);
  await ahead.settled('m2', map);
  t.ok(await ahead.take('m2', patient()));
  const settled = ahead.settled('m3', drips);
  const cut = new AbortController();
  const send = failure(ahead.take('m3', cut.signal));
  cut.abort();
  t.match(await send, { code: 'media_unavailable', certain: true, retryAfterMs: 0 });
  await until('three files', async () => ((await files('spool')).length === 3 ? true : undefined));
  over.abort();
  await settled;
  await until('none', async () => ((await files('spool')).length === 0 ? true : undefined));
  await ahead.settled('m4', map);
  ahead.begin('m5', map);
  t.equal(await ahead.take('m4', patient()), null);
  t.equal(server.asked.get('/map.png'), 2, 'nothing is fetched afterwards');

  await media.fetch(map, 'ten_a', patient(), null);
  t.equal((await files('spool')).length, 1);
  await spool.close();
  t.same(await files('spool'), [], 'a stop leaves no file');
});

t.test('nothing is fetched ahead where that is switched off', async (t) => {
  const server = await mediaServer(t);
  const { media, counted } = await mediaWorld(t, { aheadFiles: 0 });
  const ahead = media.ahead('ten_a', patient());
  const map = { url: `${server.url}/map.png` };
  ahead.begin('m1', map);
  await ahead.settled('m1', map);
  t.equal(await ahead.take('m1', patient()), null);
  ahead.forget('m1');
  t.same([server.asked.size, counted], [0, []]);
});

/** Media of so many conversations whose servers hang: how often room was asked for, and how many fetches were begun. */
async function hang(count: number, servers: number) {
  const over = new AbortController();
  const slots = new Slots(8);
  const work = { asked: 0, begun: 0, settled: 0 };
  const references = new Set<string>();
  class CountedShelf extends Shelf {
    override get hasRoom(): boolean {
      work.asked += 1;
      return super.hasRoom;
    }
  }
  const shelf = new CountedShelf(1_000, () => slots.admit());
  const ahead = new SessionAhead(
    {
      ...{ shelf, keepMs: 60_000, most: 4, mostDue: 8, admit: () => slots.admit() },
      metrics: { ahead: () => undefined },
      fetch({ url }, signal, mayBegin, reference) {
        work.begun += 1;
        references.add(reference);
        const { host: server } = new URL(url);
        return slots.run({ tenantId: 'ten_a', server, mayBegin }, signal, () => never(signal));
      },
    },
    over.signal,
  );
  const media = Array.from({ length: count }, (_, n) => ({
    url: `https://${n % servers}.example/${n}`,
  }));
  for (const [n, one] of media.entries()) ahead.begin(`m${n}`, one);
  for (const [n, one] of media.entries()) {
    void ahead.settled(`m${n}`, one).then(() => {
      work.settled += 1;
    });
  }
  for (let n = 0; n < 100; n += 1) ahead.forget(`m${n}`);
  await pause(10);
  const { begun } = work;
  over.abort();
  await until('the end of all', async () => (work.settled === count ? true : undefined));
  return { ...work, begun, references };
}

function never(signal: AbortSignal): Promise<never> {
  return untilAborted(signal, new Promise<never>(() => undefined));
}

t.test('the work that waiting media makes grows with its number only', async (t) => {
  for (const servers of [1, 3, 10_000]) {
    const few = await hang(1_000, servers);
    const many = await hang(10_000, servers);
    t.ok(many.asked < 20 * few.asked, `${servers} servers: ${few.asked}, then ${many.asked} asked`);
    t.ok(many.begun < 300, `${many.begun} fetches are begun at once`);
    t.ok(many.references.size >= many.begun, 'each names its message');
  }
});
