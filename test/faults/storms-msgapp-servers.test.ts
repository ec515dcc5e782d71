import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { client } from '../harness/client.ts';
import { databases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { msgappNetwork, Storms, stormMs } from '../harness/live-accounts.ts';
import { openRows } from '../harness/rows.ts';
import { scale, scaled } from '../harness/scale.ts';
import { startRabbitmq } from '../servers/rabbitmq.ts';

const count = scaled(500);
const outageMs = scale < 1 ? 5_000 : 60_000;

// Linking hundreds of numbers takes minutes.
t.setTimeout(1_800_000);

const settings = {
  GATEWAY_PLANS__GROWTH__SENDS_CAP: '1000000',
  GATEWAY_PLANS__GROWTH__NEW_CONTACTS_CAP: '1000000',
};

t.test(`${count} accounts of msgapp_web on two processes with servers`, async (t) => {
  const network = await msgappNetwork(t);
  const engine = databases.find(({ name }) => name === 'mariadb');
  if (engine === undefined) throw new Error('there is no MariaDB to test on');
  const database = await engine.create();
  t.teardown(() => database.drop());
  const rabbitmq = await startRabbitmq();
  t.teardown(() => rabbitmq.remove());
  const shared = { ...network.settings, ...settings, AMQP_URL: rabbitmq.url };
  const first = await runGateway(t, { databaseUrl: database.url, settings: shared });
  const api = client(first.baseUrl, first.liveKey);
  const lines = await network.link(api, count);
  const second = await runGateway(t, {
    databaseUrl: database.url,
    settings: { ...shared, GATEWAY_SECRET: first.secret },
  });
  const other = client(second.baseUrl, first.liveKey);
  const origins = [first, second].map(({ baseUrl }) => new URL(baseUrl).origin);
  const storms = new Storms(network, lines, openRows(t, database.url));
  const all = { api: other, origins, withinMs: stormMs(count) };
  const handOver = async (): Promise<void> => {
    t.equal(await first.stop(), 0);
  };
  await storms.storm(t, 'handover by SIGTERM', handOver, { ...all, fences: 1 });
  await first.start();
  const comeBack = async (): Promise<void> => {
    await second.kill();
    await second.start();
  };
  await storms.storm(t, 'takeover after a SIGKILL', comeBack, { ...all, fences: 1 });
  const outage = async (): Promise<void> => {
    await network.setReachable(false);
    await sleep(outageMs);
    await network.setReachable(true);
  };
  await storms.storm(t, 'outage of the network', outage, { ...all, fences: 0 });
  for (const { output } of [first, second]) {
    t.notMatch(output(), /could not be renewed|another process has taken/);
  }
});
