import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { contents } from '../../config/tables.ts';
import { migratedStorage } from '../fixtures/process.ts';
import { engines } from '../harness/databases.ts';

const page = join(import.meta.dirname, '../../docs/production.md');
const step = 1_000_000;
/** Behind any moment. */
const far = 8_000_000_000_000_000;

t.test('the statements for a dump settle what `restore` settles', async (t) => {
  const text = await readFile(page, 'utf8');
  const [, backups = ''] = text.split('\n## Backups\n');
  const [section = ''] = backups.split('\n## ');
  const statements = [...section.matchAll(/`((?:UPDATE|INSERT) [^`]+)`/g)].map(
    ([, sql = '']) => sql,
  );
  t.equal(statements.length, 5);

  const database = await engines.mariadb.create(t);
  const { connections } = await migratedStorage(t, database.url, contents);
  const { write } = connections;
  const tenant = { mode: 'live', plan: 'free', status: 'active', disabled: '[]', created_at: 0 };
  const ids = ['ten_far', 'ten_read', 'ten_unread'];
  await write('tenants').insert(
    ids.map((id, n) => ({ ...tenant, id, name: id, inbound_sequence: n === 0 ? far : n })),
  );
  await write('event_feeds').insert({ tenant_id: 'ten_far', last: far });
  await write('event_feeds').insert({ tenant_id: 'ten_read', last: 5 });
  const begunS = Math.floor(Date.now() / 1_000);
  for (const sql of statements) await write.raw(sql);
  const feeds = await write('event_feeds').orderBy('tenant_id').pluck('last');
  const numbers = await write('tenants').orderBy('id').pluck('inbound_sequence');
  for (const [latest, ...others] of [feeds, numbers]) {
    t.equal(latest, far + step);
    t.equal(others.length, 2);
    for (const number of others) {
      t.ok(number >= begunS * 1_000_000 && number <= Date.now() * 1_000, 'the moment');
    }
  }
});
