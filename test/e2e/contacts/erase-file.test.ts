import { mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { engines } from '../../harness/databases.ts';
import { runGateway } from '../../harness/gateway.ts';
import { file, mediaServer, picture } from '../../harness/media-server.ts';
import { openRows } from '../../harness/rows.ts';
import { s3Server } from '../../harness/s3-server.ts';
import { pair, phoneNumber, receive, until } from '../../harness/story.ts';
import { contacts } from './lists.ts';

const [phone, ada, ben] = [phoneNumber(1), phoneNumber(101), phoneNumber(102)];

t.test('a contact whose file cannot be deleted is erasing until it is gone', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const { api, dataDir } = await runGateway(t, { databaseUrl: url });
  await pair(api, phone);
  const server = await mediaServer(t);
  for (const name of ['/first.png', '/second.png']) server.answer(name, file('image/png', picture));
  for (const name of ['first', 'second']) {
    const media_url = `${server.url}/${name}.png`;
    await receive(api, phone, { from: { phone: ada }, text: name, ...{ media_url } });
  }
  const idOf = async (of: string) =>
    (await contacts(api, `?phone=${encodeURIComponent(of)}`))[0]?.id ?? '';
  const kept = async () => {
    const options = { recursive: true, withFileTypes: true } as const;
    const entries = await readdir(join(dataDir, 'media', 'kept'), options);
    return entries.filter((entry) => entry.isFile()).map((one) => join(one.parentPath, one.name));
  };
  const [path = '', ...others] = await kept();
  t.equal(others.length, 1);
  // A folder in its place: no disk deletes that as a file.
  const aside = join(path, 'aside');
  await rename(path, `${path}.aside`);
  await mkdir(path);
  await rename(`${path}.aside`, aside);

  const id = await idOf(ada);
  t.match(await api.delete(`/contacts/${id}`), { status: 200, body: { id, status: 'erasing' } });
  t.same(await kept(), [aside], 'the other one is gone');
  const media_url = `${server.url}/first.png`;
  await receive(api, phone, { from: { phone: ben }, text: 'first', ...{ media_url } });
  t.equal((await kept()).length, 2);
  const { body } = await api.delete(`/contacts/${await idOf(ben)}`);
  t.match(body, { status: 'erased' }, 'another contact waits for files of its own alone');
  t.same(await kept(), [aside]);
  const rows = openRows(t, url);
  const underWay = () => rows.rows('select id from erasures');
  t.same(await underWay(), [{ id }]);

  await rename(aside, `${path}.aside`);
  await rmdir(path);
  await rename(`${path}.aside`, path);
  await until('the end', async () => (await underWay()).length === 0 || undefined);
  t.same(await kept(), []);
  t.same(await rows.rows('select id from media_files'), []);
});

t.test('a stop waits for no bucket that never answers, and the erasure goes on', async (t) => {
  const s3 = await s3Server(t);
  const { endpoint, bucket } = s3.settings;
  const { url } = await engines.sqlite.create(t);
  const gateway = await runGateway(t, {
    databaseUrl: url,
    settings: {
      GATEWAY_MEDIA__S3__BUCKET: bucket,
      GATEWAY_MEDIA__S3__ENDPOINT: String(endpoint),
      GATEWAY_MEDIA__S3__ACCESS_KEY: 'id',
      GATEWAY_MEDIA__S3__SECRET_KEY: 'secret',
      GATEWAY_MEDIA__S3__PATH_STYLE: 'true',
    },
  });
  const { api } = gateway;
  await pair(api, phone);
  const server = await mediaServer(t);
  server.answer('/cat.png', file('image/png', picture));
  const media_url = `${server.url}/cat.png`;
  // As many as are deleted side by side, three times.
  for (let n = 0; n < 24; n += 1) {
    await receive(api, phone, { from: { phone: ada }, text: `cat ${n}`, ...{ media_url } });
  }
  t.equal(s3.objects.size, 24);
  s3.silent = true;
  const { id } = (await contacts(api, `?phone=${encodeURIComponent(ada)}`))[0] ?? { id: '' };
  t.match(await api.delete(`/contacts/${id}`), { status: 200, body: { id, status: 'erasing' } });
  t.equal(await gateway.stop(), 0);
  const rows = openRows(t, url);
  const left = () => rows.rows('select id from erasures union all select id from media_files');
  t.equal((await left()).length, 25);
  t.match(await rows.rows('select owner from leases'), [{ owner: null }], 'handed over');
  s3.silent = false;
  await gateway.start();
  await until('the end', async () => (await left()).length === 0 || undefined);
  t.equal(s3.objects.size, 0);
});
