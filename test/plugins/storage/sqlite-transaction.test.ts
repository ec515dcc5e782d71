import { copyFileSync, statSync } from 'node:fs';
import Libsql from 'libsql';
import t from 'tap';
import { migratedStorage } from '../../fixtures/process.ts';
import { engines } from '../../harness/databases.ts';

t.test('what was deleted leaves the log too, or that is said', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const storage = await migratedStorage(t, url);
  const path = url.slice('sqlite:'.length);
  const other = new Libsql(path);
  t.teardown(() => other.close());
  other.exec('begin');
  other.prepare('select count(*) from tenants').all();
  await storage.connections.write('turns').insert({ name: 'somebody' });
  await storage.connections.write('turns').where({ name: 'somebody' }).delete();

  await t.rejects(storage.scrub(), { code: 'unavailable' }, 'a reader may need the log');
  t.not(statSync(`${path}-wal`).size, 0);
  await t.resolves(storage.shrink(), 'a file that stays large is no fault');
  other.exec('commit');
  await storage.scrub();
  t.equal(statSync(`${path}-wal`).size, 0);
});

t.test('the file alone is all of a gateway that has stopped', async (t) => {
  const { url } = await engines.sqlite.create(t);
  const path = url.slice('sqlite:'.length);
  const storage = await migratedStorage(t, url);
  await storage.connections.write('turns').insert({ name: 'somebody' });
  await storage.close();
  copyFileSync(path, `${path}.copy`);
  const copy = new Libsql(`${path}.copy`);
  t.teardown(() => copy.close());
  const found = copy.prepare('select count(*) as found from turns where name = ?');
  t.match(found.get('somebody'), { found: 1 });
});
