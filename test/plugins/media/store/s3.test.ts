import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { createLog } from '../../../../core/log.ts';
import { Deletion, type DeletionParts } from '../../../../plugins/media/deletion.ts';
import { S3Store } from '../../../../plugins/media/store/s3.ts';
import { s3Server } from '../../../harness/s3-server.ts';

const location = { key: '0'.repeat(32), tenantId: 'ten_a' };
const range = { start: 0, end: 2 };
const quick = { connectMs: 300, silenceMs: 300, answerMs: 300, uploadMs: 300 };
const patient = { connectMs: 5_000, silenceMs: 3_000, answerMs: 5_000, uploadMs: 5_000 };

t.test('a bucket that accepts and never answers is given up', { timeout: 20_000 }, async (t) => {
  const s3 = await s3Server(t);
  const store = new S3Store(s3.settings, quick);
  const slower = new S3Store(s3.settings, patient);
  for (const one of [store, slower]) t.teardown(() => one.close());
  const path = join(t.testdir(), 'file');
  await writeFile(path, 'abc');
  s3.silent = true;
  await t.rejects(store.remove(location), { name: 'TimeoutError' });
  await t.rejects(store.open(location, range), { name: 'TimeoutError' });
  await t.rejects(store.put(location, path), { name: 'TimeoutError' });
  s3.silent = false;
  await slower.put(location, path);
  s3.stalls = true;
  const bytes = await slower.open(location, range);
  t.ok(bytes);
  if (bytes !== null) await t.rejects(buffer(bytes), { name: 'TimeoutError' }, 'a stalled file');
});

t.test('a reader may pause for longer than a bucket may be silent', async (t) => {
  const s3 = await s3Server(t);
  const store = new S3Store(s3.settings, { ...patient, silenceMs: 1_000 });
  t.teardown(() => store.close());
  const path = join(t.testdir(), 'film');
  const film = Buffer.alloc(20_000_000, 'film');
  await writeFile(path, film);
  await store.put(location, path);
  const whole = { start: 0, end: film.length - 1 };
  const read = await store.open(location, whole);
  const left = await store.open(location, whole);
  t.ok(read && left);
  if (read === null || left === null) return;
  await pause(3_500);
  t.notOk(read.destroyed);
  t.ok((await buffer(read)).equals(film), 'the rest comes once it is asked for');
  t.notOk(left.destroyed);
  left.destroy();
});

t.test('any number of slow downloads hold up no other file', { timeout: 20_000 }, async (t) => {
  const s3 = await s3Server(t);
  const store = new S3Store(s3.settings, { ...patient, connectMs: 2_000 });
  t.teardown(() => store.close());
  const path = join(t.testdir(), 'file');
  await writeFile(path, 'abc');
  await store.put(location, path);
  s3.stalls = true;
  const slow = await Promise.allSettled(
    Array.from({ length: 60 }, () => store.open(location, range)),
  );
  const other = { ...location, key: '1'.repeat(32) };
  await t.resolves(store.put(other, path), 'while nobody reads them');
  await t.resolves(store.remove(other));
  t.equal(slow.filter(({ status }) => status === 'fulfilled').length, 60);
  for (const one of slow) if (one.status === 'fulfilled') one.value?.destroy();
});

t.test('what a bucket refuses is logged without the key that asked', async (t) => {
  const s3 = await s3Server(t);
  const store = new S3Store(s3.settings, patient);
  t.teardown(() => store.close());
  const path = join(t.testdir(), 'file');
  await writeFile(path, 'abc');
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  const warned = t.capture(console, 'warn');
  for (const [method, ask] of [
    ['PUT', () => store.put(location, path)],
    ['GET', () => store.open(location, range)],
    ['DELETE', () => store.remove(location)],
  ] as const) {
    s3.denies = method;
    const error = await Promise.resolve(ask()).catch((reason: unknown) => reason);
    t.match(error, { name: 'AccessDenied', message: 'denied', status: 403 }, method);
    t.ok(store.isOfOneFile(error), method);
    log.warn({ err: error }, 'refused');
  }
  t.equal(lines.length, 3);
  t.notMatch(lines.join(''), 'AKIA');
  t.same(warned(), [], 'the library prints nothing beside the log');
});

t.test('a file that cannot be read ends its own upload', { timeout: 5_000 }, async (t) => {
  const s3 = await s3Server(t);
  const store = new S3Store(s3.settings, patient);
  t.teardown(() => store.close());
  // A folder can be opened, and fails at the first read.
  await t.rejects(store.put(location, t.testdir()), { code: 'EISDIR' });
  const path = join(t.testdir(), 'file');
  await writeFile(path, 'abc');
  await store.put(location, path);
  t.equal(s3.objects.size, 1, 'the next one is whole');
});

t.test('a store that is closed ends what waits for its bucket', { timeout: 5_000 }, async (t) => {
  const s3 = await s3Server(t);
  const store = new S3Store(s3.settings);
  s3.silent = true;
  const removed = store.remove(location);
  const opened = store.open(location, range);
  await pause(100);
  store.close();
  await t.rejects(removed, { name: 'AbortError' });
  await t.rejects(opened, { name: 'AbortError' });
  await t.rejects(store.remove(location), { name: 'AbortError' }, 'what comes later, too');
});

t.test('a sweep does not wait for each file of a store that is away', async (t) => {
  let asked = 0;
  let refuses = false;
  const store = {
    remove: async () => {
      asked += 1;
      throw new Error('the bucket is away');
    },
    isOfOneFile: () => refuses,
  };
  const from: number[] = [];
  const givenUp = async (_: null, [place]: readonly [number, string], limit: number) => {
    from.push(place);
    const files = Array.from({ length: limit }, (_, n) => ({
      ...location,
      key: String(place + n).padStart(32, '0'),
    }));
    return { files, next: [place + limit, ''] };
  };
  const storage = { submit: async () => 0, read: { media: { givenUp } } };
  const log = createLog('silent', { write: () => undefined });
  const deletion = new Deletion({ storage, store, log } as unknown as DeletionParts);
  await deletion.ofAll(new AbortController().signal);
  t.equal(asked, 32, 'those of one page only');
  await deletion.ofAll(new AbortController().signal);
  t.same(from, [0, 32], 'the next sweep goes on behind them');
  refuses = true;
  asked = 0;
  await deletion.ofAll(new AbortController().signal);
  t.equal(asked, 4 * 32, 'and of four pages where the store refuses each file');
  t.same(from.slice(2), [64, 96, 128, 160]);
});

t.test('files that fail hold up no others of their tenant', async (t) => {
  const s3 = await s3Server(t);
  const bucket = new S3Store(s3.settings);
  t.teardown(() => bucket.close());
  const log = createLog('silent', { write: () => undefined });
  const { signal } = new AbortController();
  /** A hundred files, of which the first forty fail, by a store. */
  const removing = (remove: (n: number) => Promise<void>) => {
    const left = new Set(Array.from({ length: 100 }, (_, n) => n));
    const givenUp = async (_: unknown, [place]: readonly [number, string], limit: number) => {
      const numbers = [...left].filter((n) => n >= place).slice(0, limit);
      const last = numbers.at(-1);
      const files = numbers.map((n) => ({ ...location, key: String(n).padStart(32, '0') }));
      return { files, next: last === undefined ? undefined : [last + 1, ''] };
    };
    const submit = async (_: unknown, keys: readonly string[]) => {
      for (const key of keys) left.delete(Number(key));
    };
    const storage = { submit, read: { media: { givenUp } } };
    const store = {
      remove: ({ key }: { readonly key: string }) => remove(Number(key)),
      isOfOneFile: (error: unknown) => bucket.isOfOneFile(error),
    };
    return { left, deletion: new Deletion({ storage, store, log } as unknown as DeletionParts) };
  };
  s3.denies = 'DELETE';
  const denied = removing((n) => (n < 40 ? bucket.remove(location) : Promise.resolve()));
  const tenant = { tenantId: 'ten_a', contactId: null };
  t.match(await denied.deletion.of(tenant, signal), { cause: { name: 'AccessDenied' } });
  t.equal(denied.left.size, 40, 'refused ones, in the same deletion');
  let isBroken = true;
  const broken = removing(async (n) => {
    if (isBroken && n < 40) throw new Error('the bucket is away');
  });
  for (const left of [100, 40]) {
    const why = { cause: { message: 'the bucket is away' } };
    t.match(await broken.deletion.of(tenant, signal), why);
    t.equal(broken.left.size, left, 'those that seem to be of a bucket that is away, in the next');
  }
  isBroken = false;
  t.equal(await broken.deletion.of(tenant, signal), null);
  t.equal(broken.left.size, 0);
});
