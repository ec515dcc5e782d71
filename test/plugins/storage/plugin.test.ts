import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { contents } from '../../../config/tables.ts';
import { provide } from '../../../core/container.ts';
import { createGateway } from '../../../core/kernel.ts';
import { createLog } from '../../../core/log.ts';
import secretsPlugin from '../../../plugins/secrets/plugin.ts';
import { openStorage, storagePlugin } from '../../../plugins/storage/plugin.ts';
import type { OpenStorage } from '../../../plugins/storage/storage.ts';
import { databases, engines } from '../../harness/databases.ts';

type Config = import('../../../core/container.ts').Cradle['config'];

const secret = Buffer.alloc(32, 7).toString('base64');

function boot(config: Partial<Config>) {
  return createGateway({
    log: createLog('silent'),
    bodyLimit: 1_000,
    plugins: [storagePlugin(contents), secretsPlugin],
    prepare: (container) =>
      // Only the fields that these two plugins read.
      provide(container, 'config', {
        gateway_secret: secret,
        gateway_secret_previous: null,
        ...config,
      } as Config),
  });
}

for (const { name, create } of databases) {
  t.test(name, async (t) => {
    const database = await create(t);
    const dataDir = await mkdtemp(join(tmpdir(), 'storage-plugin-'));
    t.teardown(() => rm(dataDir, { recursive: true, force: true }));
    const config = { database_url: database.url, data_dir: dataDir };
    const gateway = await boot(config);
    const { storage, secrets, cursors } = gateway.cradle;
    await storage.ping();
    t.equal(secrets.open(secrets.seal('a', 'b'), 'b'), 'a');
    t.equal(cursors.read('o', 't', cursors.issue('o', 't', 1)), 1);
    await gateway.close();
    await t.rejects(storage.ping(), 'closed with the gateway');

    const again = await boot(config);
    await again.cradle.storage.ping();
    await again.close();

    if (name === 'mariadb') {
      await t.rejects(boot({ ...config, gateway_secret: null }), /GATEWAY_SECRET is required/);
      const wrong = new URL(database.url);
      wrong.username = 'nobody';
      wrong.password = 'wrong';
      await t.rejects(boot({ ...config, database_url: wrong.href }), {
        name: 'StartRefusal',
        message: /refuses the user "nobody" .*: correct .* DATABASE_URL/,
      });
    } else {
      await t.rejects(boot({ ...config, gateway_secret: null }), {
        name: 'StartRefusal',
        message: /is missing, and the database is sealed/,
      });
      const fresh = { ...config, database_url: `sqlite:${join(dataDir, 'fresh.db')}` };
      const keeping = await boot({ ...fresh, gateway_secret: null });
      await keeping.close();
    }
  });
}

t.test('a stop waits for one piece of the shrinking only', async (t) => {
  const { url: database_url } = await engines.sqlite.create(t);
  const place = { database_url, data_dir: '' };
  const open = () => openStorage(place, contents, createLog('silent'), 0);
  const free = async ({ connections }: OpenStorage): Promise<number> => {
    const [row] = await connections.write.raw('pragma freelist_count');
    return row.freelist_count;
  };
  const before = await open();
  const marks = Array.from({ length: 400 }, (_, n) => ({
    name: `row ${n}`,
    value: 'x'.repeat(50_000),
  }));
  await before.connections.write.batchInsert('marks', marks, 100);
  await before.connections.write('marks').where('name', 'like', 'row %').delete();
  const all = await free(before);
  await before.close();
  await (await boot(place)).close();
  const after = await open();
  t.teardown(() => after.close());
  const left = await free(after);
  t.ok(left > 0 && left < all, `${left} of ${all} free pages are left`);
});
