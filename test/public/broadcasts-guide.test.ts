import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createLog } from '../../core/log.ts';
import { connect } from '../../plugins/storage/connection.ts';
import { Executor } from '../../plugins/storage/executor.ts';
import { client } from '../harness/client.ts';
import { engines, storyDatabases, type TestDatabase } from '../harness/databases.ts';
import { generousLimits, type RunningGateway, runGateway } from '../harness/gateway.ts';
import { guideBlocks, guideFiles } from '../harness/guide.ts';
import { awaitMidnight } from '../harness/midnight.ts';
import { outsidePackage } from '../harness/packed.ts';
import { openRows } from '../harness/rows.ts';
import { scale, scaled } from '../harness/scale.ts';
import {
  commandLine,
  outbox,
  pair,
  phoneNumber,
  receive,
  successOf,
  until,
} from '../harness/story.ts';

// Below full size as many as are sent in two seconds, which a kill meets.
const people = scale < 1 ? 200 : 10_000;
const kills = scaled(5);

interface Broadcast {
  readonly id: string;
  readonly status: string;
  readonly waits_for: string | null;
  readonly resumes_at: string | null;
  readonly queued: number;
  readonly sent: number;
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
}

/** The nth contact, of a tenant that has exchanged nothing with it yet. */
const contactId = (n: number): string => `con_${String(n).padStart(26, '0')}`;
const phoneOf = (n: number): string => `+1303${String(5_550_000 + n)}`;

t.test('the plugin of docs/broadcasts.md', { timeout: 1_800_000 }, async (t) => {
  const blocks = await guideBlocks('docs/broadcasts.md');
  t.ok(
    blocks.every(({ file }) => file !== null),
    'every block is a file that is compiled or used',
  );
  const { folder, compile } = await outsidePackage(t.testdir(), guideFiles(blocks));
  t.equal(await compile(), '', 'every file is compiled strictly');
  const settings = {
    ...generousLimits,
    GATEWAY_CONFIG: join(folder, 'gateway.json'),
    // This runs on another copy of the gateway than the one that it imports.
    GATEWAY_PLUGINS__BROADCASTS__PACKAGE: join(folder, 'built/plugin.js'),
    GATEWAY_PLUGINS__BROADCASTS__OPTIONS: '{"per_minute":6000,"opener_pause_s":2}',
    GATEWAY_SESSIONS__LEASE_S: '3',
    GATEWAY_PLANS__FREE__SENDS_CAP: '3',
  };
  for (const engine of storyDatabases('mariadb')) {
    await t.test(engine.name, (t) => killed(t, engine, settings));
  }
  await t.test('what a limit refuses waits and goes on', (t) => limited(t, settings));
});

async function killed(
  t: Test,
  engine: TestDatabase,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const { url } = await engine.create(t);
  const gateway = await runGateway(t, { databaseUrl: url, settings });
  const { api } = gateway;
  const account = await pair(api, phoneNumber(1));
  await addPeople(t, url, 0, people);
  const text = 'Hello {name}, we are back.';
  const { id } = await successOf<Broadcast>(api.post('/broadcasts', { account_id: account, text }));
  const look = () => successOf<Broadcast>(api.get(`/broadcasts/${id}`));
  const reached = (sent: number) =>
    until(
      `${sent} to be sent`,
      async () => {
        const found = await look();
        return found.sent >= sent ? found : undefined;
      },
      300_000,
    );
  await reached(10);
  // The last in the order of ids, so that their turn has not come.
  const [silent, secret, erased, stopped] = [1, 2, 3, 4].map((n) => contactId(people - n));
  await successOf(api.patch(`/contacts/${silent}`, { do_not_disturb: true }));
  await successOf(api.patch(`/contacts/${secret}`, { private: true }));
  await successOf(api.delete(`/contacts/${erased}`));
  await receive(api, phoneNumber(1), { from: { phone: phoneOf(people - 4) }, text: ' stop' });
  for (let kill = 1; kill <= kills; kill += 1) {
    await reached(Math.floor((people * kill) / (kills + 2)));
    await gateway.kill();
    await gateway.start();
  }
  const over = await until(
    'the end',
    async () => {
      const found = await look();
      return found.status === 'done' ? found : undefined;
    },
    600_000,
  );
  t.match(over, { queued: 0, sent: people - 4, waits_for: null });
  t.same(
    [...over.skipped].sort((one, other) => (one.reason < other.reason ? -1 : 1)),
    [
      { reason: 'do_not_disturb', count: 2 },
      { reason: 'erased', count: 1 },
      { reason: 'private', count: 1 },
    ],
  );
  await until(
    'all to be on the network',
    async () => {
      const queue = await api.get('/messages?status=queued&limit=1');
      return JSON.stringify(queue.body).includes('msg_') ? undefined : true;
    },
    300_000,
  );
  const rows = openRows(t, url);
  const sent = await rows.rows<{ contact_id: string; n: number }>(
    "select contact_id, count(*) as n from messages where direction = 'outbound' group by contact_id",
  );
  t.equal(sent.length, people - 4, 'each contact');
  t.same(
    sent.filter(({ n }) => n !== 1),
    [],
    'once',
  );
  const left = new Set([silent, secret, erased, stopped]);
  t.same(
    sent.filter(({ contact_id }) => left.has(contact_id)),
    [],
  );
  const [first] = await outbox(api, phoneNumber(1));
  t.match(first?.text, /^Hello Person \d+, we are back\.$/);
}

/** Writes contacts of the first test tenant into the database, as an import of a phone book does. */
async function addPeople(t: Test, url: string, from: number, count: number): Promise<string[]> {
  const { write, dialect, close } = connect(url, createLog('silent'));
  t.teardown(close);
  const rows = new Executor(write, dialect);
  const [tenant] = await rows.rows<{ id: string }>(
    "select id from tenants where mode = 'test' order by created_at, id limit 1",
  );
  const all = Array.from({ length: count }, (_, index) => ({
    ...{ id: contactId(from + index), tenant_id: tenant?.id ?? '', channel: 'msgapp_web' },
    ...{ phone: phoneOf(from + index), name: `Person ${index}`, created_at: index + 1 },
  }));
  for (let n = 0; n < count; n += 500) {
    // The gateway may be writing.
    await until('the database to be free', () =>
      rows.insert('contacts', all.slice(n, n + 500)).then(
        () => true,
        (error) => {
          if (error.code !== 'SQLITE_BUSY') throw error;
          return undefined;
        },
      ),
    );
  }
  return all.map(({ id }) => id);
}

async function limited(t: Test, settings: Readonly<Record<string, string>>): Promise<void> {
  await awaitMidnight();
  const guards = {
    GATEWAY_LIMITS__OPENER_BURST__OPENERS: '2',
    GATEWAY_LIMITS__OPENER_BURST__WINDOW_S: '2',
    GATEWAY_LIMITS__LOOP_GUARD__MESSAGES: '2',
    GATEWAY_LIMITS__LOOP_GUARD__WINDOW_S: '15',
  };
  const { url } = await engines.sqlite.create(t);
  const gateway = await runGateway(t, { databaseUrl: url, settings: { ...settings, ...guards } });
  const free = await commandLine<{ key: string }>(
    t,
    gateway,
    [...['tenants', 'create', '--name', 'Free', '--mode', 'test', '--plan', 'free']],
    { DATABASE_URL: url },
  );
  const api = client(gateway.baseUrl, free.key);
  const account_id = await pair(api, phoneNumber(1));
  const contact_ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    await receive(api, phoneNumber(1), { from: { phone: phoneOf(n), name: 'Ada' }, text: 'Hi' });
  }
  await until('five contacts', async () => {
    const { contacts } = await successOf<{ contacts: { id: string }[] }>(api.get('/contacts'));
    if (contacts.length < 5) return undefined;
    contact_ids.push(...contacts.map(({ id }) => id));
    return true;
  });
  const { id } = await successOf<Broadcast>(
    api.post('/broadcasts', { account_id, text: 'Hello', contact_ids }),
  );
  const look = () => successOf<Broadcast>(api.get(`/broadcasts/${id}`));
  const waiting = await until('the cap', async () => {
    const found = await look();
    return found.waits_for === 'daily_send_cap' ? found : undefined;
  });
  t.match(waiting, { status: 'sending', sent: 3, queued: 2, skipped: [] });
  t.ok(Date.parse(waiting.resumes_at ?? '') > Date.now(), 'until tomorrow');
  t.match(await successOf(api.delete(`/broadcasts/${id}`)), { status: 'cancelled', queued: 2 });
  const theirs = await gateway.api.get(`/broadcasts/${id}`);
  t.match(
    theirs,
    { status: 404, body: { error_code: 'broadcast_not_found' } },
    'of no other tenant',
  );

  const mine = await pair(gateway.api, phoneNumber(2));
  const openers = await addPeople(t, url, 100, 5);
  const slow = await successOf<Broadcast>(
    gateway.api.post('/broadcasts', {
      ...{ account_id: mine, text: 'Hello', contact_ids: openers },
    }),
  );
  const reasons = new Set<string | null>();
  await until('the end', async () => {
    const found = await successOf<Broadcast>(gateway.api.get(`/broadcasts/${slow.id}`));
    reasons.add(found.waits_for);
    return found.status === 'done' && found.sent === 5 ? true : undefined;
  });
  t.ok(reasons.has('opener_burst'), 'it waited for the guard');
  await asked(t, gateway, mine);
  await looping(t, gateway, mine);
}

/** A contact that the loop guard holds up waits alone. */
async function looping(t: Test, { api }: RunningGateway, account_id: string): Promise<void> {
  const [busy, quiet] = [phoneOf(60), phoneOf(61)];
  const idOf = (phone: string) =>
    until('the contact', async () => {
      const query = `/contacts?phone=${encodeURIComponent(phone)}`;
      const { contacts } = await successOf<{ contacts: { id: string }[] }>(api.get(query));
      return contacts[0]?.id;
    });
  const broadcast = (contact_ids: readonly string[]) =>
    successOf<Broadcast>(api.post('/broadcasts', { account_id, text: 'Hello', contact_ids }));
  const look = (id: string) => successOf<Broadcast>(api.get(`/broadcasts/${id}`));
  await receive(api, phoneNumber(2), { from: { phone: busy }, text: 'Hi' });
  const first = await idOf(busy);
  await receive(api, phoneNumber(2), { from: { phone: quiet }, text: 'Hi' });
  const second = await idOf(quiet);
  t.ok(first < second, 'the busy one has the first turn');
  await receive(api, phoneNumber(2), { from: { phone: busy }, text: 'Hi' });
  for (const text of ['Hello.', 'What is it?']) {
    await successOf(api.post('/messages', { account_id, to: { contact_id: first }, text }));
  }
  const { id } = await broadcast([first, second]);
  await until('the other to be sent', async () => {
    const { sent, queued, waits_for } = await look(id);
    return (sent === 1 && queued === 1 && waits_for === 'loop_guard') || undefined;
  });
  const next = await broadcast([second]);
  await until(
    'the next broadcast',
    async () => (await look(next.id)).status === 'done' || undefined,
  );
  t.match(await look(id), { status: 'sending', queued: 1 }, 'no other broadcast waits with it');
  await until('the end', async () => (await look(id)).status === 'done' || undefined, 30_000);
  t.match(await look(id), { sent: 2, skipped: [], waits_for: null });
}

/** What a request may ask for: once, by a key that may send without a person, of people who did not say STOP. */
async function asked(t: Test, gateway: RunningGateway, account_id: string): Promise<void> {
  const { api } = gateway;
  const from = { phone: phoneOf(50), name: 'A$$AP $&' };
  await receive(api, phoneNumber(2), { from, text: 'Hi' });
  const { contacts } = await successOf<{ contacts: { id: string }[] }>(
    api.get(`/contacts?phone=${encodeURIComponent(from.phone)}`),
  );
  const contact_ids = contacts.map(({ id }) => id);
  const body = { account_id, text: 'Hello {name}.', contact_ids };
  const once = { 'idempotency-key': 'monday' };
  const first = await successOf<Broadcast>(api.post('/broadcasts', body, once));
  const again = await successOf<Broadcast>(api.post('/broadcasts', body, once));
  t.equal(again.id, first.id, 'a repeated request begins nothing');
  const other = await api.post('/broadcasts', { ...body, text: 'Bye' }, once);
  t.match(other, { status: 409, body: { error_code: 'idempotency_conflict' } });
  const over = (id: string) =>
    until('the end', async () => {
      const found = await successOf<Broadcast>(api.get(`/broadcasts/${id}`));
      return found.status === 'done' ? found : undefined;
    });
  t.match(await over(first.id), { sent: 1 });
  await until(
    'the message',
    async () => (await outbox(api, phoneNumber(2))).at(-1)?.text === 'Hello A$$AP $&.' || undefined,
  );

  await receive(api, phoneNumber(2), { from, text: 'Stop' });
  await until('the flag', async () => {
    const { do_not_disturb } = await successOf<{ do_not_disturb: boolean }>(
      api.get(`/contacts/${contact_ids[0]}`),
    );
    return do_not_disturb || undefined;
  });
  const next = await successOf<Broadcast>(api.post('/broadcasts', body));
  const silent = [{ reason: 'do_not_disturb', count: 1 }];
  t.match(await over(next.id), { sent: 0, skipped: silent }, 'nor does the next one reach it');

  const { key } = await successOf<{ key: string }>(
    api.post('/keys', { name: 'Agent', confirm_sends: true }),
  );
  const refused = await client(gateway.baseUrl, key).post('/broadcasts', body);
  t.match(refused, { status: 403, body: { error_code: 'confirmation_required' } });
}
