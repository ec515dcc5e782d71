import t, { type Test } from 'tap';
import { storyDatabases } from '../harness/databases.ts';
import { type Fleet, type FleetTenant, runFleet } from '../harness/fleet.ts';
import {
  befall,
  bodyOf,
  logIn,
  messageOf,
  outbox,
  pair,
  phoneNumber,
  receive,
  type ShownMessage,
  sendAccepted,
  until,
  untilMessage,
} from '../harness/story.ts';
import { history, imports } from './contacts/imports.ts';
import { type Contact, contacts, pages } from './contacts/lists.ts';
import { recordedEvents, storedOf } from './recorded.ts';
import { messageStates } from './states/messages.ts';

const phone = phoneNumber(1);
const [ada, bob] = [phoneNumber(101), phoneNumber(102)];

async function doNotDisturb(t: Test, { rows }: Fleet, { id: tenantId, api }: FleetTenant) {
  const { contact } = await receive(api, phone, { from: { phone: ada }, text: 'before' });
  const path = `/contacts/${contact.id}`;
  const flagged = await api.patch(path, { do_not_disturb: true });
  t.match(flagged, { status: 200, body: { id: contact.id, do_not_disturb: true, private: false } });
  const refused = await api.post('/messages', { to: { phone: ada }, text: 'x' });
  t.match(refused, { status: 422, body: { error_code: 'contact_do_not_disturb' } });
  const inbound = await receive(api, phone, { from: { phone: ada, name: 'Ada' }, text: 'after' });
  t.equal(inbound.contact.id, contact.id, 'inbound as usual');
  t.equal((await recordedEvents(rows, tenantId, inbound.id)).length, 1);
  t.match((await api.get(path)).body, { name: 'Ada', do_not_disturb: true });
  const named = await api.patch(path, { name: 'Countess', do_not_disturb: false });
  t.match(named.body, { name: 'Countess', do_not_disturb: false });
  await untilMessage(api, await sendAccepted(api, { to: { phone: ada } }), 'read');
}

/** Nothing that is stored for the tenant holds this text. */
async function nowhere(t: Test, fleet: Fleet, tenant: FleetTenant, text: string): Promise<void> {
  const stored = await storedOf(fleet.rows, tenant.id);
  for (const [table, found] of Object.entries(stored)) {
    t.equal(found.filter((row) => row.includes(text)).length, 0, `"${text}" is not in ${table}`);
  }
  for (const gateway of fleet.gateways) t.notMatch(gateway.output(), new RegExp(text));
}

async function madePrivate(t: Test, fleet: Fleet, tenant: FleetTenant): Promise<void> {
  const { api } = tenant;
  const inbound = await receive(api, phone, { from: { phone: bob }, text: 'secret one' });
  const read = await sendAccepted(api, { to: { phone: bob }, text: 'secret two' });
  await untilMessage(api, read, 'read');
  const wait = await api.get('/messages/wait?timeout_s=0');
  await api.put(`/sandbox/phones/${phone}`, { send: 'hang' });
  const handed = await sendAccepted(api, { to: { phone: bob }, text: 'secret three' });
  const waiting = await sendAccepted(api, { to: { phone: bob }, text: 'secret four' });
  const other = await sendAccepted(api, { to: { phone: ada }, text: 'to Ada' });
  await until('the network to have it', async () =>
    (await outbox(api, phone)).some(({ message_id }) => message_id === handed) ? true : undefined,
  );
  const usage = (await api.get('/usage')).body;

  const path = `/contacts/${inbound.contact.id}`;
  t.match(await api.patch(path, { private: true }), { status: 200, body: { private: true } });
  for (const id of [inbound.id, read, handed]) {
    t.match((await api.get(`/messages/${id}`)).body, { error_code: 'message_not_found' });
  }
  const failed = await messageOf(api, waiting);
  t.match(failed, { status: 'failed', text: '', media: null, error: /^contact_private: ./ });
  t.strictSame(await recordedEvents(fleet.rows, tenant.id, waiting), [], 'no event');
  await nowhere(t, fleet, tenant, 'secret');
  t.strictSame((await api.get('/usage')).body, usage, 'what was accepted stays counted');

  const from = { phone: bob, name: 'Robert' };
  await api.post(`/sandbox/phones/${phone}/inbound`, { from, text: 'hidden five' });
  await receive(api, phone, { from: { phone: ada }, text: 'Ada writes' });
  await nowhere(t, fleet, tenant, 'hidden');
  t.match((await api.get(path)).body, { name: '' }, 'not even the name');
  const cursor = bodyOf<{ next_cursor: string }>(wait).next_cursor;
  const next = await api.get(`/messages/wait?cursor=${cursor}`);
  const { messages } = bodyOf<{ messages: ShownMessage[] }>(next);
  t.strictSame(
    messages.map(({ text }) => text),
    ['Ada writes'],
    'in no wait',
  );
  for (const to of [{ phone: bob }, { contact_id: inbound.contact.id }]) {
    const refused = await api.post('/messages', { to, text: 'x' });
    t.match(refused, { status: 422, body: { error_code: 'contact_private' } });
  }

  await api.put(`/sandbox/phones/${phone}`, { send: 'read' });
  await befall(api, phone, { type: 'drop' });
  await untilMessage(api, other, 'read');
  const accepted = (await outbox(api, phone)).map(({ message_id }) => message_id);
  t.notOk(accepted.includes(waiting), 'what was not sent never is');
  await nowhere(t, fleet, tenant, 'secret');

  await api.patch(path, { private: false });
  await untilMessage(api, await sendAccepted(api, { to: { phone: bob } }), 'read');
  const all = await pages<ShownMessage>(api, '/messages', 100);
  const ofBob = all.filter(({ contact }) => contact.phone === bob).map(({ id }) => id);
  t.equal(ofBob.length, 2, 'nothing comes back: the new one, and the one that failed');
}

async function paging(t: Test, _fleet: Fleet, { api }: FleetTenant): Promise<void> {
  const known = await contacts(api, '?limit=100');
  for (let n = 0; n < 5; n += 1) {
    await sendAccepted(api, { to: { phone: phoneNumber(200 + n) } });
  }
  const all = await pages<Contact>(api, '/contacts', 2);
  t.strictSame(
    all.slice(0, 5).map((contact) => contact.phone),
    [204, 203, 202, 201, 200].map(phoneNumber),
    'newest first',
  );
  t.strictSame(all.slice(5), known, 'each exactly once');
  const first = await api.get('/contacts?limit=2');
  const { next_cursor } = bodyOf<{ next_cursor: string }>(first);
  await sendAccepted(api, { to: { phone: phoneNumber(299) } });
  const second = await contacts(api, `?limit=2&before=${next_cursor}`);
  t.strictSame(second, all.slice(2, 4), 'a cursor stays valid while contacts are added');

  await logIn(api, phoneNumber(2));
  await receive(api, phoneNumber(2), { from: { phone: ada, name: 'Ada' }, text: 'on chatapp' });
  const onChatapp = await contacts(api, '?channel=chatapp');
  t.match(onChatapp, [{ channel: 'chatapp', phone: ada, name: 'Ada' }]);
  const both = await contacts(api, `?phone=${encodeURIComponent(ada)}`);
  t.strictSame(both.map(({ channel }) => channel).sort(), ['chatapp', 'msgapp_web']);
  t.strictSame(await contacts(api, `?phone=${ada.slice(1)}`), both, 'without its plus');
  t.match(await api.get('/contacts?channel=other'), {
    status: 400,
    body: { error_code: 'invalid_request', details: [{ path: 'query/channel' }] },
  });
  const [one] = onChatapp;
  t.strictSame((await api.get(`/contacts/${one?.id}`)).body, one);
}

for (const engine of storyDatabases('mariadb')) {
  t.test(`messages and contacts, ${engine.name}`, async (t) => {
    const fleet = await runFleet(t, engine);
    await t.test('statuses of messages', (t) => messageStates(t, fleet));
    const tenant = await fleet.tenant('growth');
    await pair(tenant.api, phone);
    await t.test('do not disturb', (t) => doNotDisturb(t, fleet, tenant));
    await t.test('private', (t) => madePrivate(t, fleet, tenant));
    await t.test('imports', (t) => imports(t, fleet));
    await t.test('chats', (t) => history(t, fleet));
    await t.test('paging', (t) => paging(t, fleet, tenant));
  });
}
