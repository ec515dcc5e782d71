import t from 'tap';
import { contents } from '../../../config/tables.ts';
import type { PluginStorage } from '../../../core/contracts/plugin-storage.ts';
import { id, nullable, text, zero } from '../../../core/contracts/schema.ts';
import { Executor } from '../../../plugins/storage/executor.ts';
import { migrate } from '../../../plugins/storage/migrations/migrate.ts';
import { withPlugins } from '../../../plugins/storage/outside.ts';
import { databases } from '../../harness/databases.ts';
import { startProcess } from '../../harness/processes.ts';
import { CounterTable, countersOf, counting, makeKept } from './outside-tables.ts';

const program = 'test/plugins/storage/outside-process.ts';

for (const { name, create } of databases) {
  t.test(`tables of a plugin from outside: ${name}`, async (t) => {
    const { url } = await create(t);
    const hanging = startProcess(t, [program, url, 'hang']);
    await hanging.waitFor(/halfway/);
    await hanging.kill('SIGKILL');
    const processes = [1, 2, 3].map(() => startProcess(t, [program, url, '20']));
    for (const started of processes) t.same((await started.exit).code, 0, started.output);
    const storage = await makeKept(t, url);
    const counted = [
      { id: 'it_0', n: 30 },
      { id: 'it_1', n: 30 },
    ];
    t.same(await countersOf(storage.read).all(), counted, 'made once, after a kill, and locked');

    const later = {
      name: '002-notes',
      creates: [{ name: 'x_counting_notes', columns: { id, n: zero }, primary: ['id'] }],
      adds: { x_counting_counters: { note: nullable(text), weight: { ...zero, initial: 7 } } },
    };
    const keeps = { ...counting, steps: [...counting.steps, later] };
    const { steps } = withPlugins(contents, [{ name: 'counting', keeps }]);
    t.same(await migrate(storage, steps), ['counting/002-notes'], 'a step that is added later');
    const { write } = storage.connections;
    for (const step of steps.slice(-2)) await step.apply(new Executor(write, storage.dialect));
    t.match(await write('x_counting_counters').select(), [
      { note: null, weight: 7 },
      { note: null, weight: 7 },
    ]);
    t.same(await migrate(storage, contents.steps), [], 'the plugin may go, and come back');
    const major = { name: '003-other', major: 3 };
    const newer = { ...keeps, steps: [...keeps.steps, major] };
    await migrate(storage, withPlugins(contents, [{ name: 'counting', keeps: newer }]).steps);
    t.same(await migrate(storage, contents.steps), [], 'its version is no concern of others');
    await t.rejects(
      migrate(storage, steps),
      /tables of the plugin "counting" have version 3, the plugin knows version 1/,
    );
  });
}

t.test('names that stop the start', async (t) => {
  const table = (name: string) => ({ name, columns: { id }, primary: ['id'] });
  const making = (...names: string[]) => ({
    tables: {},
    steps: [{ name: '001', creates: names.map(table) }],
  });
  const wrong = [
    [{ name: 'Mail', keeps: making() }, /"Mail".+its name must be at most 30 lower case/],
    [{ name: 'mail', keeps: making('messages') }, /"messages" must begin with x_mail_/],
    [{ name: 'mail', keeps: making('x_mail_') }, /"x_mail_" must begin with x_mail_/],
    [
      { name: 'mail', keeps: { ...making(), locks: [{ table: 'tenants', key: 'id' }] } },
      /"tenants" must begin/,
    ],
    [{ name: 'mail', keeps: making('x_mail_a', 'x_mail_a') }, /already is a table "x_mail_a"/],
    [
      { name: 'mail', keeps: { tables: {}, steps: [{ name: '001' }, { name: '001' }] } },
      /it has two steps "001"/,
    ],
  ] as const;
  for (const [plugin, reason] of wrong) t.throws(() => withPlugins(contents, [plugin]), reason);
  t.equal(withPlugins(contents, [{ name: 'Mail', keeps: null }]), contents);
  const taken = { ...counting, tables: { messages: () => new CounterTable(null as never) } };
  const plugin = { name: 'counting', keeps: taken as unknown as PluginStorage };
  t.throws(() => withPlugins(contents, [plugin]), /claim the tables "messages"/);
});
