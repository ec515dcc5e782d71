import { createConnection, type RowDataPacket } from 'mysql2/promise';
import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { startReadOnlyServer } from '../harness/read-only-server.ts';
import { readiness, timeToReadiness } from '../harness/readiness.ts';
import { scraped } from '../harness/scrape.ts';
import { pair, phoneNumber, sendAccepted } from '../harness/story.ts';

t.test('a MariaDB that takes the right to write back while a gateway serves', async (t) => {
  const database = await startReadOnlyServer(t);
  const gateway = await runGateway(t, { databaseUrl: database.url });
  const { api, baseUrl } = gateway;
  await pair(api, phoneNumber(1));
  const message = { to: { phone: phoneNumber(9) }, text: 'Hello' };
  await sendAccepted(api, message);

  const user = "gateway@'127.0.0.1'";
  const administrator = await createConnection(database.server.url);
  t.teardown(() => administrator.end());
  await administrator.query(`REVOKE INSERT, UPDATE, DELETE ON gateway.* FROM ${user}`);
  const [ids] = await administrator.query<RowDataPacket[]>(
    "select id from information_schema.processlist where user = 'gateway'",
  );
  // Connections that are open keep their rights. One that has ended by itself is not there to be killed.
  for (const { id } of ids) {
    await administrator.query(`kill ${id}`).catch(() => undefined);
  }
  await timeToReadiness(baseUrl, 503);
  t.match(await readiness(baseUrl), { checks: { database: 'ok', database_write: 'unavailable' } });
  const refused = await api.post('/messages', message);
  t.match(refused, { status: 503, body: { error_code: 'unavailable' } });
  t.match(refused.headers.get('retry-after'), /^[12]$/);
  t.equal((await api.get('/messages?limit=1')).status, 200);
  const { value } = await scraped(baseUrl);
  t.equal(value('gateway_database_up', { access: 'read' }), 1);
  t.equal(value('gateway_database_up', { access: 'write' }), 0, 'which raises the alert');
  t.match(gateway.output(), /command denied to user/);

  await administrator.query(`GRANT ALL ON gateway.* TO ${user}`);
  await timeToReadiness(baseUrl, 200);
  await sendAccepted(api, message);
  t.equal(await gateway.stop(), 0);
});
