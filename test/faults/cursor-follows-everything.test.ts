import t from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { followCursors } from '../harness/exactness.ts';
import { runGateway } from '../harness/gateway.ts';
import { scaled } from '../harness/scale.ts';

const amount = { accounts: 20, perAccount: scaled(200, 15) };

for (const engine of storyDatabases('mariadb')) {
  t.test(`two cursors over twenty accounts, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const gateway = await runGateway(t, { databaseUrl: database.url });
    await followCursors(t, { gateways: [gateway], databaseUrl: database.url }, amount);
  });
}
