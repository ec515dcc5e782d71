import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import t from 'tap';
import { networkFolder, readRunning } from '../../drivers/simulated/network/running.ts';
import { checkBehaving, pairBehaving } from '../harness/behaviours.ts';
import { storyDatabases } from '../harness/databases.ts';
import { killWithReceipts } from '../harness/exactness.ts';
import { runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { scale, scaled } from '../harness/scale.ts';
import { startSending } from '../harness/sending.ts';
import { until } from '../harness/story.ts';
import { subscribe } from '../harness/subscriber.ts';
import { startMariadb } from '../servers/mariadb.ts';

const accounts = 10;
const kills = scaled(10);
const perAccount = scaled(2_000, 80) / accounts;
const buffered = { buffered: true };
/** Until a killed process's sessions are free; the default at full size. */
const leases = { GATEWAY_SESSIONS__LEASE_S: scale < 1 ? '5' : '9' };

// Most of a small run goes by waiting for processes to start and leases to end.
if (scale < 1) t.jobs = 2;
for (const engine of storyDatabases('sqlite')) {
  t.test(`the gateway is killed while receipts flow, ${engine.name}`, buffered, async (t) => {
    const database = await engine.create(t);
    const gateway = await runGateway(t, { databaseUrl: database.url, settings: leases });
    const workplace = { gateways: [gateway], databaseUrl: database.url } as const;
    await killWithReceipts(t, workplace, { accounts, perAccount, kills });
  });

  t.test(`the network is killed while sends are under way, ${engine.name}`, buffered, async (t) => {
    const database = await engine.create(t);
    const settings = { GATEWAY_SESSIONS__RECONNECT_MAX_S: '2' };
    const gateway = await runGateway(t, { databaseUrl: database.url, settings });
    const rows = openRows(t, database.url);
    const sending = startSending(
      gateway.api,
      await pairBehaving(gateway.api, accounts),
      perAccount,
    );
    const total = perAccount * accounts;
    const pids = new Set<number>();
    for (let kill = 1; kill <= kills; kill += 1) {
      const pid = await until('the network to be there and in the middle of sends', async () => {
        const [row] = await rows.rows<{ n: number }>(
          "select count(*) as n from messages where status <> 'queued'",
        );
        const running = readRunning(networkFolder(gateway.dataDir));
        const due = (row?.n ?? 0) >= (total * kill) / (kills + 1);
        return due && running !== null && !pids.has(running.pid) ? running.pid : undefined;
      });
      pids.add(pid);
      process.kill(pid, 'SIGKILL');
    }
    t.equal(pids.size, kills);
    await sending.finished;
    t.same([...sending.answers.keys()], ['202'], 'nobody who sends notices');
    await checkBehaving(t, { gateways: [gateway], databaseUrl: database.url }, sending);
  });
}

t.test('MariaDB crashes and freezes while receipts flow', buffered, async (t) => {
  const server = await startMariadb();
  t.teardown(() => server.remove());
  const connection = await createConnection(server.url);
  await connection.query('CREATE DATABASE gateway CHARACTER SET utf8mb4');
  await connection.end();
  const databaseUrl = `${server.url}/gateway`;
  const gateway = await runGateway(t, { databaseUrl });
  const subscriber = await subscribe(t, gateway.api);
  // Between two faults the lines may only get so far, or a small run would be over before the next.
  const lines = await pairBehaving(gateway.api, accounts);
  const sending = startSending(gateway.api, lines, perAccount, 0.4);

  await sending.reached(0.25);
  await server.crash();
  sending.allow(0.6);
  await sleep(1_000);
  // A short outage is waited for: this one lasts until somebody is told of it.
  await until('a send to be told', async () => sending.answers.has('503') || undefined);
  await server.start();
  await sending.reached(0.5);
  await server.freeze();
  sending.allow(0.85);
  // Shorter than a lease; at full size longer than that, and than the longest silence.
  await sleep(scale < 1 ? 3_000 : 13_000);
  server.thaw();
  await sending.reached(0.75);
  await server.crash();
  sending.allow(1);
  await server.start();
  await sending.finished;
  t.same([...sending.answers.keys()].sort(), ['202', '503'], 'a send is accepted or told to retry');
  t.ok(sending.slowestMs() < 20_000, `the slowest answer took ${sending.slowestMs()} ms`);
  await checkBehaving(t, { gateways: [gateway], databaseUrl }, sending, subscriber);
});
