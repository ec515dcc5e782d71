import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import t, { type Test } from 'tap';
import { networkFolder, readRunning } from '../../drivers/simulated/network/running.ts';
import type { Client } from '../harness/client.ts';
import { databases } from '../harness/databases.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { scale, scaled } from '../harness/scale.ts';
import {
  checkExactly,
  type Ending,
  type Line,
  read,
  type Sending,
  startSending,
} from '../harness/sending.ts';
import { connected, pair, phoneNumber, until } from '../harness/story.ts';
import { startMariadb } from '../servers/mariadb.ts';

/** How the network treats what a phone sends, and what then becomes of it. */
interface Behaviour {
  readonly settings: object;
  readonly ending: Ending;
}

const delivered: Ending = { status: 'delivered', error: null, events: ['delivered', 'sent'] };
const reason = 'blocked_by_contact: the contact has blocked this number';
const failed: Ending = { status: 'failed', error: reason, events: ['failed'] };

/** Receipts come at once, or when the next messages are already under way, or never; some are refused. */
const behaviours: readonly Behaviour[] = [
  { settings: { send: 'read' }, ending: read },
  { settings: { send: 'read', latency_ms: 5 }, ending: read },
  { settings: { send: 'read', latency_ms: 40 }, ending: read },
  { settings: { send: 'deliver', latency_ms: 10 }, ending: delivered },
  { settings: { send: 'fail', fail_reason: reason, latency_ms: 10 }, ending: failed },
];
const accounts = 10;

const behaviourOf = (place: number): Behaviour =>
  behaviours[place % behaviours.length] as Behaviour;

/** Pairs ten numbers whose phones behave in all these ways. */
async function prepare(api: Client): Promise<readonly Line[]> {
  return Promise.all(
    Array.from({ length: accounts }, async (_, place) => {
      const phone = phoneNumber(place);
      const account = await pair(api, phone);
      const set = await api.put(`/sandbox/phones/${phone}`, behaviourOf(place).settings);
      if (set.status !== 200) throw new Error(JSON.stringify(set.body));
      return { phone, account };
    }),
  );
}

/** Waits for the end, counts everywhere, and stops the gateway. */
async function check(
  t: Test,
  gateway: RunningGateway,
  databaseUrl: string,
  sending: Sending,
  endingOf = (ending: Ending): Ending => ending,
): Promise<void> {
  await sending.finished;
  for (const { phone } of sending.lines) await connected(gateway.api, phone);
  const places = new Map(sending.lines.map(({ phone }, place) => [phone, place]));
  await checkExactly(t, gateway.api, openRows(t, databaseUrl), sending.lines, ({ phone }) =>
    endingOf(behaviourOf(places.get(phone) ?? 0).ending),
  );
  t.equal(await gateway.stop(), 0, 'a clean stop');
}

const kills = scaled(10, 2);
const perAccount = scaled(2_000, 150) / accounts;

for (const engine of databases) {
  t.test(`the gateway is killed while receipts flow, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const gateway = await runGateway(t, { databaseUrl: database.url });
    const sending = startSending(gateway.api, await prepare(gateway.api), perAccount);
    for (let kill = 1; kill <= kills; kill += 1) {
      await sending.reached(kill / (kills + 1));
      await gateway.kill();
      await sleep(50);
      await gateway.start();
    }
    await check(t, gateway, database.url, sending);
  });

  t.test(`the network is killed while sends are under way, ${engine.name}`, async (t) => {
    const database = await engine.create();
    t.teardown(() => database.drop());
    const settings = { GATEWAY_SESSIONS__RECONNECT_MAX_S: '2' };
    const gateway = await runGateway(t, { databaseUrl: database.url, settings });
    const rows = openRows(t, database.url);
    const sending = startSending(gateway.api, await prepare(gateway.api), perAccount);
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
    await check(t, gateway, database.url, sending);
  });
}

t.test('MariaDB crashes and freezes while receipts flow', async (t) => {
  const server = await startMariadb();
  t.teardown(() => server.remove());
  const connection = await createConnection(server.url);
  await connection.query('CREATE DATABASE gateway CHARACTER SET utf8mb4');
  await connection.end();
  const databaseUrl = `${server.url}/gateway`;
  const gateway = await runGateway(t, { databaseUrl });
  const sending = startSending(gateway.api, await prepare(gateway.api), perAccount);

  await sending.reached(0.25);
  await server.crash();
  await sleep(1_000);
  await server.start();
  await sending.reached(0.5);
  server.freeze();
  // Shorter than a lease; at full size longer than that, and than the longest silence.
  await sleep(scale < 1 ? 3_000 : 13_000);
  server.thaw();
  await sending.reached(0.75);
  await server.crash();
  await server.start();
  await sending.finished;
  t.same([...sending.answers.keys()].sort(), ['202', '503'], 'a send is accepted or told to retry');
  t.ok(sending.slowestMs() < 20_000, `the slowest answer took ${sending.slowestMs()} ms`);
  await check(t, gateway, databaseUrl, sending);
});
