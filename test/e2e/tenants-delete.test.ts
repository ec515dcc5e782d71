import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { administer } from '../../config/commands/administer.ts';
import type { DatabasePools } from '../../plugins/storage/connection.ts';
import { startNetwork } from '../harness/cluster.ts';
import { storyDatabases, type TestDatabase } from '../harness/databases.ts';
import { eventsClient, newSecret, startCallback } from '../harness/event-callback.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { storeMany } from '../harness/many-messages.ts';
import { file, mediaServer } from '../harness/media-server.ts';
import { watchNetwork } from '../harness/network-watch.ts';
import type { Teardown } from '../harness/processes.ts';
import { startReceiver } from '../harness/receiver.ts';
import { openRows } from '../harness/rows.ts';
import { pair, phoneNumber, receive, sendAccepted, until } from '../harness/story.ts';
import { untilChanged } from '../harness/times.ts';
import { openStage } from '../plugins/messages/stage.ts';
import { serverUrl } from '../servers/borrow.ts';
import { beside } from './beside.ts';
import { storedOf, tenantOf } from './recorded.ts';

const [phone, neighbour] = [phoneNumber(1), phoneNumber(2)];
const [ada, grace] = [phoneNumber(101), phoneNumber(102)];
const secret = 'a word of Ada alone';

/** Every table that has a way to a tenant, and its id in a column. */
const owned = [
  ...['contacts', 'messages', 'events', 'event_feeds', 'deliveries', 'receivers', 'webhooks'],
  ...['accounts', 'api_keys', 'usage_counters', 'idempotency_keys', 'audit', 'media_files'],
];

/** Starts a gateway whose way to the network is watched; on MariaDB the sessions are another process's. */
async function start(t: Teardown, { name }: TestDatabase, databaseUrl: string) {
  const network = await startNetwork(t);
  const way = await watchNetwork(t, network);
  // A killed process holds its sessions for so long.
  const watched = { SIMULATED_NETWORK_URL: way.url, GATEWAY_SESSIONS__LEASE_S: '4' };
  if (name === 'sqlite') {
    const gateway = await runGateway(t, { databaseUrl, settings: watched });
    return { way, processes: [gateway] as const };
  }
  const broker = { AMQP_URL: await serverUrl('rabbitmq') };
  const settings = { ...broker, SIMULATED_NETWORK_URL: network, ROLES: 'api,webhooks' };
  const gateway = await runGateway(t, { databaseUrl, settings });
  const { dataDir, secret: GATEWAY_SECRET } = gateway;
  const ofOther = { ...broker, ...watched, GATEWAY_SECRET, ROLES: 'sessions' };
  const other = await runGateway(t, { databaseUrl, dataDir, settings: ofOther });
  return { way, processes: [gateway, other] as const };
}

/** Keeps a message of a tenant, behind many others, from being deleted; the function that it answers ends that. */
async function holdMessage({ dialect, write }: DatabasePools, tenant_id: string) {
  const inOrder = write('messages').where({ tenant_id }).orderBy('id').offset(2_000);
  const { id }: { id: string } = await inOrder.first('id');
  if (dialect === 'mysql') {
    const holding = await write.transaction();
    await holding.raw(
      'set session idle_transaction_timeout = 0, idle_write_transaction_timeout = 0',
    );
    await holding('messages').where({ id }).forUpdate();
    return () => holding.rollback();
  }
  // SQLite locks no row: a trigger refuses the step, which is tried again and again.
  const refuse = "select raise(abort, 'held')";
  await write.raw(
    `create trigger held before delete on messages when old.id = '${id}' begin ${refuse}; end`,
  );
  return () => write.raw('drop trigger held');
}

const all = (processes: readonly RunningGateway[], what: 'kill' | 'start') =>
  Promise.all(processes.map((one) => one[what]()));

for (const engine of storyDatabases('mariadb')) {
  t.test(`a deleted tenant leaves nothing but its neighbours, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const { way, processes } = await start(t, engine, database.url);
    const [gateway] = processes;
    const env = { DATABASE_URL: database.url };
    const { make } = beside(gateway, env);
    const [doomed, other] = [await make('growth'), await make('growth')];
    const receiver = await startReceiver(t);
    const media = await mediaServer(t);
    media.answer('/ada.png', file('text/plain', secret));
    for (const [{ api }, own] of [
      [doomed, phone],
      [other, neighbour],
    ] as const) {
      await pair(api, own);
      const hook = { name: 'all', url: receiver.url(), subscribed_to: ['message.received'] };
      await api.post('/webhooks', hook);
      await api.get('/events?timeout_s=0');
    }
    const { api } = doomed;
    const subscribed = { secret: newSecret() };
    const callback = await startCallback(t, () => subscribed.secret);
    const { body: agent } = await api.post('/keys', { name: 'agent', scopes: ['read'] });
    const ask = await eventsClient(t, gateway.mcpUrl, (agent as { key: string }).key);
    const target = { mode: 'webhook', url: callback.receiver.url('/mcp'), ...subscribed };
    const wanted = { name: 'message.received', arguments: {}, delivery: target };
    t.match(await ask('events/subscribe', wanted), { id: /^wh_sub_/ });
    const written = { from: { phone: ada, name: 'Ada Lovelace' }, text: secret };
    const picture = { ...written, media_url: `${media.url}/ada.png` };
    const inbound = await receive(api, phone, picture);
    await receive(other.api, neighbour, { from: { phone: grace, name: 'Grace' }, text: 'stays' });
    const body = { to: { phone: ada }, text: `${secret}, again` };
    await api.post('/messages', body, { 'idempotency-key': 'one' });
    const rows = openRows(t, database.url);
    const id = await tenantOf(rows, inbound.account_id);
    const { storage } = await openStage(t, database.url);
    const facts = { tenantId: id, accountId: inbound.account_id, contactIds: [inbound.contact.id] };
    await storeMany(storage, { ...facts, text: secret, count: 4_000, at: 1_000_000 });
    await api.put(`/sandbox/phones/${phone}`, { send: 'hang' });
    for (let n = 0; n < 8; n += 1) await sendAccepted(api, { to: { phone: ada }, text: secret });
    await until('the deliveries', async () => receiver.received.length >= 2 || undefined);
    await until('the event', async () => callback.events('/mcp').length > 0 || undefined);

    const settings = { ...env, GATEWAY_SECRET: gateway.secret, DATA_DIR: gateway.dataDir };
    const remove = (isSure: boolean, tenant = id) =>
      administer({ name: 'tenants delete', id: tenant, isSure }, settings);
    const counts = { accounts: 1, contacts: 1, messages: 4_010, webhooks: 2, api_keys: 2 };
    t.match(await remove(false), { json: { deleted: false, counts }, code: 1 });
    t.equal((await api.get('/me')).status, 200, 'nothing is done without --yes');
    await t.rejects(remove(true, 'ten_none'), { message: 'There is no tenant "ten_none".' });
    const free = 'select id from receivers where tenant_id = ? and owner is null';
    await until('its receiver let go', async () => (await rows.rows(free, [other.id]))[0]);
    const before = await storedOf(rows, other.id);
    t.match(await remove(true), { json: { deleted: true, counts }, code: undefined });
    const isRefused = async () => (await api.get('/me')).status === 401 || undefined;
    const { oldForMs } = await untilChanged('a 401', isRefused);
    t.ok(oldForMs <= 2_000, 'its key is useless within two seconds');
    await t.rejects(
      administer(
        {
          ...{ name: 'keys create', tenantId: id },
          settings: {
            name: null,
            scopes: null,
            accountIds: null,
            expiresAt: null,
            confirmSends: false,
          },
        },
        settings,
      ),
      { message: `There is no tenant "${id}".` },
    );

    const release = await holdMessage(storage.connections, id);
    // As if it had begun a while ago: the next sweep goes on with it.
    await storage.connections.write('erasures').update({ created_at: 1 });
    const said = () => way.said.filter((one) => one.phone === phone).map(({ type }) => type);
    await until('its session to end', async () => !way.phones().includes(phone) || undefined);
    const heard = said();
    t.same(heard.slice(-2), ['log_out', 'gone'], 'it is unlinked');
    const left = async () => {
      const sql = 'select count(*) as found from messages where tenant_id = ?';
      return Number((await rows.rows<{ found: number }>(sql, [id]))[0]?.found);
    };
    await until('some to be gone', async () => (await left()) < counts.messages || undefined);
    await all(processes, 'kill');
    t.ok((await left()) > 0, 'it was killed in the middle');
    await release();
    await all(processes, 'start');
    await until(
      'the end',
      async () => (await rows.rows('select id from erasures')).length === 0 || undefined,
    );

    for (const table of owned) {
      const found = await rows.rows('select * from ?? where tenant_id = ?', [table, id]);
      t.same(found, [], table);
    }
    for (const table of ['threads', 'leases', 'credentials', 'links']) {
      const found = await rows.rows('select * from ?? where account_id = ?', [
        table,
        facts.accountId,
      ]);
      t.same(found, [], table);
    }
    t.same(await storedOf(rows, other.id), before, 'nothing of its neighbour was changed');
    await until('its session', async () => way.phones().includes(neighbour) || undefined);
    t.same(said(), heard, 'and of the deleted one the network hears not a byte more');
    t.match(await other.api.get('/conversations'), { status: 200 });
    const { json } = await administer({ name: 'tenants list' }, settings);
    t.notMatch(JSON.stringify(json), id, 'the list has it no more');
    await t.rejects(remove(true), { message: `There is no tenant "${id}".` });

    if (engine.name !== 'sqlite') return;
    const folders = [dirname(database.url.slice('sqlite:'.length)), join(gateway.dataDir, 'media')];
    for (const folder of folders) {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const bytes = readFileSync(join(entry.parentPath, entry.name));
        for (const trace of [secret, ada.slice(1), 'Lovelace']) {
          t.notOk(bytes.includes(trace), `${trace} in ${entry.name}`);
        }
      }
    }
    for (const trace of [secret, ada.slice(1), 'Lovelace']) t.notMatch(gateway.output(), trace);
  });
}
