import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t from 'tap';
import { administer } from '../../config/commands/administer.ts';
import { databases } from '../harness/databases.ts';
import { runGateway } from '../harness/gateway.ts';
import { storeMany } from '../harness/many-messages.ts';
import { file, mediaServer } from '../harness/media-server.ts';
import { startReceiver } from '../harness/receiver.ts';
import { openRows } from '../harness/rows.ts';
import { pair, phoneNumber, receive, until } from '../harness/story.ts';
import { openStage } from '../plugins/messages/stage.ts';
import { beside } from './beside.ts';
import { storedOf, tenantOf } from './recorded.ts';

const [phone, ada, grace] = [phoneNumber(1), phoneNumber(101), phoneNumber(102)];
const secret = 'a word of Ada alone';

/** Every table that has a way to a tenant, and its id in a column. */
const owned = [
  ...['contacts', 'messages', 'events', 'event_feeds', 'deliveries', 'receivers', 'webhooks'],
  ...['accounts', 'api_keys', 'usage_counters', 'idempotency_keys', 'audit', 'media_files'],
];

for (const engine of databases) {
  t.test(`a deleted tenant leaves nothing but its neighbours, ${engine.name}`, async (t) => {
    const database = await engine.create(t);
    const gateway = await runGateway(t, { databaseUrl: database.url });
    const env = { DATABASE_URL: database.url };
    const { make } = beside(gateway, env);
    const [doomed, other] = [await make('growth'), await make('growth')];
    const receiver = await startReceiver(t);
    const media = await mediaServer(t);
    media.answer('/ada.png', file('text/plain', secret));
    for (const { api } of [doomed, other]) {
      await pair(api, phone);
      const hook = { name: 'all', url: receiver.url(), subscribed_to: ['message.received'] };
      await api.post('/webhooks', hook);
      await api.get('/events?timeout_s=0');
    }
    const { api } = doomed;
    const written = { from: { phone: ada, name: 'Ada Lovelace' }, text: secret };
    const picture = { ...written, media_url: `${media.url}/ada.png` };
    const inbound = await receive(api, phone, picture);
    await receive(other.api, phone, { from: { phone: grace, name: 'Grace' }, text: 'stays' });
    const body = { to: { phone: ada }, text: `${secret}, again` };
    await api.post('/messages', body, { 'idempotency-key': 'one' });
    const rows = openRows(t, database.url);
    const id = await tenantOf(rows, inbound.account_id);
    const { storage } = await openStage(t, database.url);
    const facts = { tenantId: id, accountId: inbound.account_id, contactIds: [inbound.contact.id] };
    await storeMany(storage, { ...facts, text: secret, count: 4_000, at: 1_000_000 });
    await until('the deliveries', async () => receiver.received.length >= 2 || undefined);

    const settings = { ...env, GATEWAY_SECRET: gateway.secret, DATA_DIR: gateway.dataDir };
    const remove = (isSure: boolean, tenant = id) =>
      administer({ name: 'tenants delete', id: tenant, isSure }, settings);
    const counts = { accounts: 1, contacts: 1, messages: 4_002, webhooks: 1, api_keys: 1 };
    t.match(await remove(false), { json: { deleted: false, counts }, code: 1 });
    t.equal((await api.get('/me')).status, 200, 'nothing is done without --yes');
    await t.rejects(remove(true, 'ten_none'), { message: 'There is no tenant "ten_none".' });
    const before = await storedOf(rows, other.id);
    t.match(await remove(true), { json: { deleted: true, counts }, code: undefined });
    const begun = Date.now();
    await until('a 401', async () => (await api.get('/me')).status === 401 || undefined);
    t.ok(Date.now() - begun < 2_500, 'its key is useless within two seconds');
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

    // As if it had begun a while ago: the process that starts next goes on with it at once.
    await storage.connections.write('erasures').update({ created_at: 1 });
    const left = async () => {
      const sql = 'select count(*) as found from messages where tenant_id = ?';
      return Number((await rows.rows<{ found: number }>(sql, [id]))[0]?.found);
    };
    await gateway.kill();
    await gateway.start();
    await until('some to be gone', async () => (await left()) < counts.messages || undefined);
    await gateway.kill();
    t.ok((await left()) > 0, 'it was killed in the middle');
    await gateway.start();
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
