import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { contents } from '../../config/tables.ts';
import { migratedStorage } from '../fixtures/process.ts';
import { engines } from '../harness/databases.ts';

const page = join(import.meta.dirname, '../../docs/production.md');
const step = 1_000_000_000;

t.test('the statements for a dump settle what `restore` settles', async (t) => {
  const text = await readFile(page, 'utf8');
  const [, backups = ''] = text.split('\n## Backups\n');
  const [section = ''] = backups.split('\n## ');
  const statements = [...section.matchAll(/`((?:UPDATE|INSERT) [^`]+)`/g)].map(
    ([, sql = '']) => sql,
  );
  t.equal(statements.length, 3);

  const database = await engines.mariadb.create(t);
  const { connections } = await migratedStorage(t, database.url, contents);
  const { write } = connections;
  const tenant = { mode: 'live', plan: 'free', status: 'active', disabled: '[]', created_at: 0 };
  const ids = ['ten_read', 'ten_unread'];
  await write('tenants').insert(
    ids.map((id, n) => ({ ...tenant, id, name: id, inbound_sequence: n })),
  );
  await write('event_feeds').insert({ tenant_id: 'ten_read', last: 5 });
  for (const sql of statements) await write.raw(sql);
  t.same(await write('event_feeds').orderBy('tenant_id').pluck('last'), [step + 5, step]);
  const numbers = await write('tenants').orderBy('id').pluck('inbound_sequence');
  t.same(numbers, [step, step + 1]);
});
