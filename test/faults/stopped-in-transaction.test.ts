import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection } from 'mysql2/promise';
import t from 'tap';
import { engines } from '../harness/databases.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import { checkExactly, read, startSending } from '../harness/sending.ts';
import { pair, phoneNumber, sendAccepted } from '../harness/story.ts';
import { besideMachine, figuresOf, isWithin } from '../harness/times.ts';

/** For this long a stopped transaction may be in the way of others, seconds; and what a busy machine adds, milliseconds. */
const heldS = 5;
const slackMs = 1_500;

/** Whether somebody holds the lock under which the tenant's sends are accepted. */
async function isLocked(connection: Connection, tenantId: string): Promise<boolean> {
  const lock = 'select id from tenants where id = ? for update nowait';
  return await connection.query(lock, [tenantId]).then(
    () => false,
    (error: { errno?: number }) => {
      // MariaDB's number and MySQL's.
      if (error.errno === 1205 || error.errno === 3572) return true;
      throw error;
    },
  );
}

/** Stops a busy gateway again and again, until it happens inside such a transaction; answers when it was stopped. */
async function freezeInside(gateway: RunningGateway, locked: () => Promise<boolean>) {
  for (let tries = 1; tries <= 300; tries += 1) {
    await gateway.freeze();
    const frozenAt = performance.now();
    if (await locked()) {
      // A statement that was under way ends; the transaction stays.
      await sleep(50);
      if (await locked()) return frozenAt;
    }
    gateway.thaw();
    await sleep(5 + Math.random() * 20);
  }
  throw new Error('it was never stopped inside a transaction');
}

t.test('a process stopped inside a transaction holds the others up for 5 s at most', async (t) => {
  const database = await engines.mariadb.create(t);
  const databaseUrl = database.url;
  const first = await runGateway(t, { databaseUrl });
  const { dataDir, secret, key, liveKey } = first;
  const settings = { GATEWAY_SECRET: secret, TEST_API_KEY: key, LIVE_API_KEY: liveKey };
  const second = await runGateway(t, { databaseUrl, dataDir, settings });
  const connection = await createConnection(databaseUrl);
  t.teardown(() => connection.end());

  const phones = [1, 2, 3, 4].map(phoneNumber);
  const lines = await Promise.all(
    phones.map(async (phone) => ({ phone, account: await pair(first.api, phone) })),
  );
  const apart = { phone: phoneNumber(9), account: await pair(first.api, phoneNumber(9)) };
  const rows = openRows(t, databaseUrl);
  const [account] = await rows.rows<{ tenant_id: string }>(
    'select tenant_id from accounts where id = ?',
    [apart.account],
  );
  const tenantId = account?.tenant_id ?? '';

  const sending = startSending(first.api, lines, scaled(500, 40));
  const accepted: string[] = [];
  await second.api.document();
  const stops = scaled(5, 1);
  for (let stop = 1; stop <= stops; stop += 1) {
    await sending.reached((stop - 1) / stops);
    const frozenAt = await freezeInside(first, () => isLocked(connection, tenantId));
    const begunAt = performance.now();
    // The server's own time for as long a wait says how busy the machine is.
    const waited = connection.query('do sleep(?)', [heldS]).then(() => performance.now() - begunAt);
    const message = { account_id: apart.account, to: { phone: phoneNumber(1000) } };
    const { value, ...times } = await besideMachine(() => sendAccepted(second.api, message));
    accepted.push(value);
    const heldForMs = begunAt - frozenAt + times.tookMs;
    const heldMs = await waited;
    first.thaw();
    t.ok(heldForMs > 1_000, `it was held up, for ${figuresOf(times)}`);
    const isShort = isWithin(times, heldMs + slackMs);
    t.ok(isShort, `and not for longer than 5 s, here ${Math.round(heldMs)} ms`);
  }
  await sending.finished;
  await checkExactly(t, first.api, rows, [...sending.lines, { ...apart, accepted }], () => read);
  t.equal(await second.stop(), 0);
  t.equal(await first.stop(), 0);
});
