import { createConnection } from 'mysql2/promise';
import t, { type Test } from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { messagesLogged } from '../harness/log-lines.ts';
import { type ReadOnlyServer, startReadOnlyServer } from '../harness/read-only-server.ts';
import { readiness, timeToReadiness } from '../harness/readiness.ts';
import { openRows } from '../harness/rows.ts';
import { scaled } from '../harness/scale.ts';
import { scraped } from '../harness/scrape.ts';
import { checkExactly, read, startSending } from '../harness/sending.ts';
import { pair, phoneNumber, until } from '../harness/story.ts';

/** Gives the gateway's user another password, and ends the connections that it has. */
async function rotate({ server, execute }: ReadOnlyServer, t: Test): Promise<void> {
  const administrator = await createConnection(server.url);
  t.teardown(() => administrator.end());
  await execute("ALTER USER gateway@'127.0.0.1' IDENTIFIED BY 'rotated'");
  const [ids] = await administrator.query(
    "select group_concat(id) as open from information_schema.processlist where user = 'gateway'",
  );
  const [{ open }] = ids as [{ open: string }];
  // One that has ended by itself meanwhile is not there to be killed.
  for (const id of open.split(',')) await administrator.query(`kill ${id}`).catch(() => undefined);
}

t.test('a MariaDB that refuses the log-in while a gateway serves', async (t) => {
  const database = await startReadOnlyServer(t);
  const gateway = await runGateway(t, { databaseUrl: database.url });
  const { api, baseUrl } = gateway;
  const phones = [1, 2, 3, 4].map(phoneNumber);
  const lines = await Promise.all(
    phones.map(async (phone) => ({ phone, account: await pair(api, phone) })),
  );
  const up = async () => {
    const { value } = await scraped(baseUrl);
    return ['read', 'write'].map((access) => value('gateway_database_up', { access }));
  };
  t.same(await up(), [1, 1]);

  const sending = startSending(api, lines, scaled(1_000, 60), 0.3);
  // The receipts of what was just sent come while no connection can be made.
  await sending.reached(0.3);
  await rotate(database, t);
  sending.allow(1);
  await timeToReadiness(baseUrl, 503);
  await until('the circuit to open', async () => (await up()).includes(0) || undefined);
  t.same(await up(), [0, 0], 'which raises the alert');
  t.match(await readiness(baseUrl), {
    status: 503,
    checks: { database: 'unavailable', database_write: 'unavailable' },
  });
  const body = { to: { phone: phoneNumber(1000) }, text: 'late' };
  for (const refusal of [await api.post('/messages', body), await api.get('/messages?limit=1')]) {
    t.match(refusal, { status: 503, body: { error_code: 'unavailable' } });
    t.match(refusal.headers.get('retry-after'), /^[12]$/);
  }
  const before = sending.answers.get('503') ?? 0;
  const turnedAway = async () => (sending.answers.get('503') ?? 0) > before + 20 || undefined;
  await until('many sends to be turned away', turnedAway);

  await database.execute("ALTER USER gateway@'127.0.0.1' IDENTIFIED BY 'secret'");
  await timeToReadiness(baseUrl, 200);
  await sending.finished;
  t.same([...sending.answers.keys()].sort(), ['202', '503']);
  await checkExactly(t, api, openRows(t, database.url), sending.lines, () => read);
  const logged = messagesLogged(gateway.output());
  t.equal(logged.get('the database answers again'), 1);
  t.match(gateway.output(), /"msg":"the database does not answer[^\n]*/);
  t.match(gateway.output(), /Access denied for user/);
  t.equal(await gateway.stop(), 0);
});
