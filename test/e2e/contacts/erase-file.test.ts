import { mkdir, readdir, rename, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { engines } from '../../harness/databases.ts';
import { runGateway } from '../../harness/gateway.ts';
import { file, mediaServer, picture } from '../../harness/media-server.ts';
import { openRows } from '../../harness/rows.ts';
import { pair, phoneNumber, receive, until } from '../../harness/story.ts';
import { contacts } from './lists.ts';

const [phone, ada] = [phoneNumber(1), phoneNumber(101)];

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

  const { id } = (await contacts(api, `?phone=${encodeURIComponent(ada)}`))[0] ?? { id: '' };
  t.match(await api.delete(`/contacts/${id}`), { status: 200, body: { id, status: 'erasing' } });
  t.same(await kept(), [aside], 'the other one is gone');
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
