import t, { type Test } from 'tap';
import { storyDatabases, type TestDatabase } from '../../harness/databases.ts';
import { runGateway } from '../../harness/gateway.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { openRows } from '../../harness/rows.ts';
import { bodyOf, pair, phoneNumber, until } from '../../harness/story.ts';

const phone = phoneNumber(1);
const since = '2026-01-01T00:00:00Z';

async function recovery(t: Test, engine: TestDatabase): Promise<void> {
  const database = await engine.create(t);
  const { api } = await runGateway(t, { databaseUrl: database.url });
  let status = 500;
  const receiver = await startReceiver(t, () => status);
  const subscription = { url: receiver.url('/hook'), subscribed_to: ['message.received'] };
  await api.post('/webhooks', { ...subscription, name: 'hook', retries_enabled: false });
  await pair(api, phone);
  const write = (text: string) =>
    api.post(`/sandbox/phones/${phone}/inbound`, { from: { phone: phoneNumber(2) }, text });
  const path = '/webhooks/hook/recover';
  t.match(await api.get(path), { status: 200, body: { success: true, job: null } });
  await write('one');
  await write('two');
  await until('two failures', async () => (receiver.received.length === 2 ? true : undefined));
  await api.put('/webhooks/hook', { name: 'hook', enabled: false });
  await write('three');
  const log = async (state: string) => {
    const answer = await api.get(`/webhooks/hook/deliveries?status=${state}`);
    return bodyOf<{ deliveries: { id: string }[] }>(answer).deliveries.map(({ id }) => id);
  };
  const suppressed = await until('one suppressed', async () => {
    const found = await log('suppressed');
    return found.length === 1 ? found : undefined;
  });
  t.match(await api.post(path, { since, status: 'all' }), {
    ...{ status: 409, body: { error_code: 'webhook_not_delivering' } },
  });
  await api.put('/webhooks/hook', { name: 'hook', enabled: true });
  for (const [body, field] of [
    [{ since: 'yesterday', status: 'all' }, 'body/since'],
    [{ since, status: 'delivered' }, 'body/status'],
    [{ since, until: since, status: 'all' }, 'body/until'],
    [{ status: 'all' }, 'body/since'],
  ] as const) {
    const refused = await api.post(path, body);
    t.match(refused, { status: 400, body: { details: [{ path: field }] } }, JSON.stringify(body));
  }
  const done = () =>
    until('the end', async () => {
      const { job } = bodyOf<{ job: { status: string } }>(await api.get(path));
      return job.status === 'done' ? job : undefined;
    });
  const failed = await log('failed');
  t.equal(failed.length, 2);
  await api.post(path, { since, status: 'failed' });
  t.match(await done(), { deliveries: 'failed', total: 2, recovered: 2 });
  t.same((await log('failed')).sort(), failed.sort(), 'what fails again is not tried for ever');
  status = 204;
  await api.post(path, { since, until: '2026-01-02T00:00:00Z', status: 'all' });
  t.match(await done(), { total: 0, recovered: 0 }, 'nothing in this time');
  await api.post(path, { since, status: 'suppressed' });
  t.match(await done(), { deliveries: 'suppressed', total: 1, recovered: 1 });
  await api.post(path, { since, status: 'all' });
  t.match(await done(), { deliveries: 'all', total: 2, recovered: 2 });
  t.same((await log('delivered')).sort(), [...failed, ...suppressed].sort(), 'under the same ids');
  t.equal((await api.delete('/webhooks/hook')).status, 200);
  t.equal((await api.get(path)).status, 404);
  const left = 'select id from recoveries';
  t.same(await openRows(t, database.url).rows(left, []), [], 'nothing outlives its webhook');
}

// Its SQL runs on both: recovery/begin-lane.test.ts, recovery/step-lane.test.ts.
for (const engine of storyDatabases('sqlite')) {
  t.test(`deliveries are recovered, ${engine.name}`, (t) => recovery(t, engine));
}
