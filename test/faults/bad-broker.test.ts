import t, { type Test } from 'tap';
import { storyDatabases, type TestDatabase } from '../harness/databases.ts';
import { followCursors, killWithReceipts, type Workplace } from '../harness/exactness.ts';
import { type GatewayOptions, runGateway } from '../harness/gateway.ts';
import { scaled } from '../harness/scale.ts';
import { serverUrl } from '../servers/borrow.ts';

const program = ['test/harness/unreliable-main.ts'];

/** One gateway on SQLite with the broker in process; two on MariaDB with RabbitMQ. */
async function open(t: Test, engine: TestDatabase): Promise<Workplace> {
  const database = await engine.create(t);
  const databaseUrl = database.url;
  // What a killed process held is taken up sooner.
  const lease = { GATEWAY_SESSIONS__LEASE_S: '3' };
  if (engine.name === 'sqlite') {
    const gateway = await runGateway(t, { databaseUrl, program, settings: lease });
    return { gateways: [gateway], databaseUrl };
  }
  const settings = { ...lease, AMQP_URL: await serverUrl('rabbitmq') };
  const options: GatewayOptions = { databaseUrl, program, settings };
  const first = await runGateway(t, options);
  const { dataDir, secret, key, liveKey } = first;
  const same = { GATEWAY_SECRET: secret, TEST_API_KEY: key, LIVE_API_KEY: liveKey };
  const second = await runGateway(t, { ...options, dataDir, settings: { ...settings, ...same } });
  return { gateways: [first, second], databaseUrl };
}

const engines = storyDatabases('mariadb');
t.jobs = engines.length;
for (const engine of engines) {
  t.test(`a broker drops, repeats and reorders, ${engine.name}`, { buffered: true }, async (t) => {
    t.test('SIGKILL while receipts flow', async (t) => {
      const amount = { accounts: 10, perAccount: scaled(200, 8), kills: scaled(10) };
      await killWithReceipts(t, await open(t, engine), amount);
    });
    t.test('two cursors follow everything', async (t) => {
      await followCursors(t, await open(t, engine), {
        accounts: scaled(20, 8),
        perAccount: scaled(200, 10),
      });
    });
  });
}
