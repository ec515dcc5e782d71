import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { contents } from '../../../config/tables.ts';
import { id, zero } from '../../../core/contracts/schema.ts';
import type { Row } from '../../../core/contracts/sql.ts';
import { createLog } from '../../../core/log.ts';
import { Executor } from '../../../plugins/storage/executor.ts';
import { migrate } from '../../../plugins/storage/migrations/migrate.ts';
import { createTable } from '../../../plugins/storage/migrations/schema.ts';
import type { MigrationStep } from '../../../plugins/storage/migrations/steps.ts';
import { makeStorage, type OpenStorage } from '../../../plugins/storage/storage.ts';
import { type Database, databases } from '../../harness/databases.ts';
import { runGateway } from '../../harness/gateway.ts';
import { startProcess, type Teardown } from '../../harness/processes.ts';
import { startSending } from '../../harness/sending.ts';
import { outbox, pair, phoneNumber, until } from '../../harness/story.ts';

const tableNames = [
  'abandoned_queues',
  'accounts',
  'api_keys',
  'audit',
  'confirmations',
  'contact_aliases',
  'contacts',
  'credentials',
  'deliveries',
  'erasures',
  'event_cursors',
  'event_feeds',
  'events',
  'idempotency_keys',
  'jobs',
  'lease_holders',
  'leases',
  'limit_notices',
  'links',
  'marks',
  'media_files',
  'messages',
  'opener_refusals',
  'processes',
  'receivers',
  'recoveries',
  'refusal_counters',
  'tenants',
  'threads',
  'turns',
  'usage_counters',
  'waits',
  'webhooks',
];

function open(database: Database, t: Teardown): OpenStorage {
  const storage = makeStorage({ url: database.url, log: createLog('silent'), contents });
  t.teardown(() => storage.close());
  return storage;
}

async function tablesOf({ connections, dialect }: OpenStorage): Promise<string[]> {
  const { read } = connections;
  const names: string[] =
    dialect === 'sqlite'
      ? await read('sqlite_master').where('type', 'table').pluck('name')
      : (
          await read('information_schema.tables')
            .whereRaw('table_schema = database()')
            .select({ name: 'table_name' })
        ).map(({ name }) => name);
  return names.sort();
}

for (const { name, create } of databases) {
  t.test(name, async (t) => {
    t.test('all tables, once', async (t) => {
      const database = await create(t);
      const storage = open(database, t);
      t.same(
        await migrate(storage, contents.steps),
        contents.steps.map((step) => step.name),
      );
      t.same(await migrate(storage, contents.steps), []);
      const { write } = storage.connections;
      // What a crash in the middle asks for.
      for (const step of contents.steps) await step.apply(new Executor(write, storage.dialect));
      const tables = await tablesOf(storage);
      t.same(
        tables.filter((table) => table !== 'schema_steps'),
        tableNames,
      );
      for (const table of tables) {
        const columns = await storage.connections.write(table).columnInfo();
        for (const [column, { type }] of Object.entries(columns)) {
          t.notMatch(type, /blob|binary|json|date|time|decimal/i, `${table}.${column}`);
        }
      }
      if (name === 'mariadb') {
        const [counted] = await storage.connections
          .read('information_schema.columns')
          .whereRaw('table_schema = database()')
          .whereNotNull('collation_name')
          // MariaDB's name and MySQL's.
          .whereNotIn('collation_name', ['utf8mb4_nopad_bin', 'utf8mb4_0900_bin'])
          .count({ odd: '*' });
        t.equal(Number(counted?.odd), 0, 'every text compares by its bytes');
      }
    });

    t.test('processes that start at the same moment', async (t) => {
      const database = await create(t);
      const file = 'test/plugins/storage/counting-process.ts';
      const processes = [1, 2, 3].map(() => startProcess(t, [file, database.url, '0']));
      for (const started of processes) t.same((await started.exit).code, 0, started.output);
      const storages = [open(database, t), open(database, t)];
      t.same(await Promise.all(storages.map((storage) => migrate(storage, contents.steps))), [
        [],
        [],
      ]);
      const [first] = storages;
      const steps = await first?.connections.read('schema_steps').orderBy('name').pluck('name');
      t.same(steps, [...contents.steps.map((step) => step.name), 'scratch']);
    });

    t.test('a process that is killed halfway', async (t) => {
      const database = await create(t);
      const hanging = startProcess(t, ['test/plugins/storage/hanging-process.ts', database.url]);
      await hanging.waitFor(/halfway/);
      const storage = open(database, t);
      let [applied, wentOnAt] = [false, 0];
      const watched = contents.steps.map((step): MigrationStep => {
        const apply: MigrationStep['apply'] = (executor) => {
          wentOnAt ||= performance.now();
          return step.apply(executor);
        };
        return { ...step, apply };
      });
      const migrated = migrate(storage, watched).then((steps) => {
        applied = true;
        return steps;
      });
      await sleep(300);
      t.notOk(applied, 'waits for the one at work');
      const killed = performance.now();
      await hanging.kill('SIGKILL');
      t.same(
        await migrated,
        contents.steps.map((step) => step.name),
      );
      t.ok(wentOnAt - killed < 4_000, 'goes on as soon as that is gone');
      t.same(
        (await tablesOf(storage)).filter((table) => tableNames.includes(table)),
        tableNames,
      );
    });

    t.test('an older gateway at work meanwhile', async (t) => {
      const database = await create(t);
      const settings = { GATEWAY_SESSIONS__LEASE_S: '3' };
      const gateway = await runGateway(t, { databaseUrl: database.url, settings });
      const phone = phoneNumber(1);
      const line = { phone, account: await pair(gateway.api, phone) };
      const sending = startSending(gateway.api, [line, line, line], 40);
      await sending.reached(0.25);
      const storage = open(database, t);
      const added: MigrationStep = {
        name: '900-added',
        major: 1,
        async apply(executor) {
          await createTable(executor, { name: 'later', columns: { id, n: zero }, primary: ['id'] });
          for (const table of ['accounts', 'messages', 'events', 'leases']) {
            await executor.run(`alter table ${table} add column added_text text null`);
            await executor.run(`alter table ${table} add column added integer not null default 7`);
          }
          await executor.run('create index messages_added on messages (account_id, added)');
        },
      };
      t.same(await migrate(storage, [...contents.steps, added]), ['900-added']);
      await sending.reached(0.75);
      t.same([...sending.answers.keys()], ['202'], 'it noticed nothing');
      await gateway.kill();
      await gateway.start();
      await sending.finished;
      const rows = new Executor(storage.connections.read, storage.dialect);
      const accepted = sending.lines.flatMap((one) => one.accepted).sort();
      await until('the end of all', async () => {
        const left = await rows.rows("select id from messages where status <> 'read'");
        return left.length === 0 ? true : undefined;
      });
      const arrived = (await outbox(gateway.api, phone)).map((message) => message.message_id);
      t.same(arrived.sort(), accepted, 'each message arrived once, also after a restart');
      t.same(await rows.rows('select distinct added from messages'), [{ added: 7 }]);
      t.equal(await gateway.stop(), 0);
    });

    t.test('messages without a number share the unique indexes of numbers', async (t) => {
      const database = await create(t);
      const storage = open(database, t);
      await migrate(storage, contents.steps);
      const executor = new Executor(storage.connections.write, storage.dialect);
      const message = (id: string, numbers: Row) => ({
        ...{ id, tenant_id: 'ten', account_id: 'acc', channel: 'msgapp_web', contact_id: 'con' },
        ...{ direction: 'outbound', text: '', status: 'queued', created_at: 1 },
        ...{ network_id: null, sequence: null, inbound_sequence: null, ...numbers },
      });
      const taken: readonly Row[] = [
        { network_id: 'network' },
        { sequence: 1 },
        { inbound_sequence: 1 },
      ];
      await executor.insert(
        'messages',
        [...taken, {}, {}].map((numbers, n) => message(`msg_${n}`, numbers)),
      );
      for (const numbers of taken) {
        const again = executor.insert('messages', [message('msg_again', numbers)]);
        await t.rejects(again, /unique|duplicate/i, `once: ${Object.keys(numbers)}`);
      }
      if (name !== 'sqlite') return;
      const sparse = await executor.rows<{ name: string }>(
        "select name from pragma_index_list('messages') where partial = 1 order by name",
      );
      t.same(
        sparse.map((index) => index.name),
        [
          'messages_account_id_direction_network_id',
          'messages_account_id_sequence',
          'messages_tenant_id_account_id_inbound_sequence',
          'messages_tenant_id_inbound_sequence',
        ],
      );
      const lists = await executor.rows<{ name: string }>(
        "select name from pragma_index_list('messages') where name like '%created_at_id' order by name",
      );
      t.same(
        lists.map((index) => index.name),
        [
          'messages_tenant_id_account_id_direction_created_at_id',
          'messages_tenant_id_direction_created_at_id',
        ],
      );
    });

    t.test('a step that fails, and a newer schema', async (t) => {
      const database = await create(t);
      const storage = open(database, t);
      const table = { name: 'later', columns: { id, n: zero }, primary: ['id'] };
      let broken = true;
      const later: MigrationStep = {
        name: '900-later',
        major: 1,
        async apply(executor) {
          await createTable(executor, table);
          if (broken) throw new Error('broken');
        },
      };
      const steps = [...contents.steps, later];
      await t.rejects(migrate(storage, steps), /broken/);
      broken = false;
      const applied = await migrate(storage, steps);
      t.equal(applied.at(-1), '900-later');
      t.same(
        await migrate(storage, contents.steps),
        [],
        'an older process works with what was only added',
      );

      const major = { ...later, name: '901-other', major: 2 };
      t.same(await migrate(storage, [...steps, major]), ['901-other']);
      await t.rejects(
        migrate(storage, contents.steps),
        /schema version 2, this gateway knows version 1/,
      );
    });
  });
}
