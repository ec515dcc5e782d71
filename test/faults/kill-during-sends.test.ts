import t from 'tap';
import { databases } from '../harness/databases.ts';
import { killDuringSends } from '../harness/exactness.ts';
import { runGateway } from '../harness/gateway.ts';
import { scaled } from '../harness/scale.ts';

const amount = { accounts: 5, perAccount: scaled(100, 20), kills: scaled(5, 2) };

for (const engine of databases) {
  t.test(`SIGKILL in the middle of sends, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const gateway = await runGateway(t, { databaseUrl: database.url });
    await killDuringSends(t, { gateways: [gateway], databaseUrl: database.url }, amount);
  });
}
