import t, { type Test } from 'tap';
import { type NetworkProcess, startNetwork } from '../drivers/chatapp/network-process.ts';
import { type Client, client } from '../harness/client.ts';
import { storyDatabases } from '../harness/databases.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { openRows } from '../harness/rows.ts';
import {
  bodyOf,
  type ConnectionStatus,
  phoneNumber,
  type ShownMessage,
  sendAccepted,
  undated,
  unhindered,
  until,
  untilMessage,
  untilStatus,
} from '../harness/story.ts';
import { accountEvents, tenantOf } from './recorded.ts';

/** A gateway, its live tenant, and the network that both the test and the gateway reach. */
interface Stage extends NetworkProcess {
  readonly gateway: RunningGateway;
  readonly api: Client;
  readonly rows: ReturnType<typeof openRows>;
}

const friend = { phone: phoneNumber(1001), name: 'Ada' };
const connected = 'account.connected connected null';

interface Started extends ConnectionStatus {
  readonly account_id: string;
}

async function connect({ api }: Stage, phone_number: string, mode = 'code'): Promise<Started> {
  const answer = await api.post('/channels/chatapp/connect', { phone_number, mode });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return bodyOf<Started>(answer);
}

function submit({ api }: Stage, phone: string, field: 'code' | 'password', value: string) {
  return api.post(`/channels/chatapp/connect/${phone}/verify-${field}`, { [field]: value });
}

/** A number that is connected by code and has one friend. */
async function connectedByCode(stage: Stage, phone: string): Promise<string> {
  await stage.control.put(phone, { contacts: [friend] });
  const { account_id } = await connect(stage, phone);
  await submit(stage, phone, 'code', await stage.control.code(phone));
  await untilStatus(stage.api, 'chatapp', phone, 'connected');
  return account_id;
}

async function eventsOf({ rows }: Stage, accountId: string): Promise<readonly string[]> {
  return await accountEvents(rows, await tenantOf(rows, accountId), accountId);
}

async function friendId({ api }: Stage): Promise<string> {
  const path = `/contacts?channel=chatapp&phone=${encodeURIComponent(friend.phone)}`;
  return await until('the contact', async () => {
    const { contacts } = bodyOf<{ contacts: { id: string }[] }>(await api.get(path));
    return contacts[0]?.id;
  });
}

async function byCode(t: Test, stage: Stage): Promise<void> {
  const { api, control } = stage;
  const phone = phoneNumber(1);
  await control.put(phone, { contacts: [friend] });
  const { account_id, status } = await connect(stage, phone);
  t.equal(status, 'code_required');
  const code = await control.code(phone);
  const wrong = await submit(stage, phone, 'code', code === '99999' ? '99998' : '99999');
  t.match(wrong, { status: 400, body: { error_code: 'invalid_code' } });
  const right = await submit(stage, phone, 'code', code);
  t.strictSame(undated(right.body), { phone_number: phone, status: 'connected', ...unhindered });
  t.strictSame(await eventsOf(stage, account_id), [connected]);

  const contact_id = await friendId(stage);
  const id = await sendAccepted(api, { account_id, to: { contact_id }, text: 'Hello Ada' });
  await untilMessage(api, id, 'sent');
  const [reached] = await control.outbox(phone);
  t.match(reached, { to: friend.phone, text: 'Hello Ada', attempts: 1 });
  await control.read(phone, reached?.networkId ?? '');
  const read = await untilMessage(api, id, 'read');
  t.ok(read.delivered_at !== null && read.read_at !== null, 'reading is delivery too');
  const stranger = { account_id, to: { phone: phoneNumber(1002) }, text: 'Hello' };
  t.match(await api.post('/messages', stranger), {
    status: 422,
    body: { error_code: 'chatapp_requires_existing_contact' },
  });

  const wait = api.get('/messages/wait?timeout_s=20');
  await until('the wait to be open', async () => {
    const [row] = await stage.rows.rows<{ n: number }>('select sum(slots) as n from waits');
    return Number(row?.n) > 0 ? true : undefined;
  });
  await control.write(phone, { from: friend.phone, name: friend.name, text: 'Hello gateway' });
  const { messages } = bodyOf<{ messages: ShownMessage[] }>(await wait);
  t.match(messages, [{ text: 'Hello gateway', direction: 'inbound', contact: friend }]);
}

async function byPassword(t: Test, stage: Stage): Promise<void> {
  const phone = phoneNumber(2);
  await stage.control.put(phone, { password: 'correct horse' });
  const { account_id } = await connect(stage, phone);
  const code = await submit(stage, phone, 'code', await stage.control.code(phone));
  t.strictSame(undated(code.body), {
    phone_number: phone,
    status: 'password_required',
    ...unhindered,
  });
  const wrong = await submit(stage, phone, 'password', 'Correct horse');
  t.match(wrong, { status: 400, body: { error_code: 'invalid_password' } });
  const right = await submit(stage, phone, 'password', 'correct horse');
  t.strictSame(undated(right.body), { phone_number: phone, status: 'connected', ...unhindered });
  t.strictSame(await eventsOf(stage, account_id), [connected]);
}

async function byQr(t: Test, stage: Stage): Promise<void> {
  const { api, control } = stage;
  const phone = phoneNumber(3);
  await control.put(phone, {});
  const begun = await connect(stage, phone, 'qr');
  t.match(begun, { status: 'qr_required', login_token: /./, qr_url: /^tg:\/\/login\?token=/ });
  await control.expireCodes(false);
  const renewed = await until('the token to be renewed', async () => {
    const answer = await api.get(`/channels/chatapp/connect/${phone}/status`);
    const status = bodyOf<ConnectionStatus>(answer);
    return status.login_token === begun.login_token ? undefined : status;
  });
  await control.scan(phone, renewed.qr_url ?? '');
  await untilStatus(api, 'chatapp', phone, 'connected');
  t.strictSame(await eventsOf(stage, begun.account_id), [connected]);

  const unknown = await api.post('/channels/chatapp/connect', { phone_number: phoneNumber(77) });
  t.equal(unknown.status, 200, 'a number that the network refuses');
  t.match(unknown.body, { status: 'error' });
}

async function refused(t: Test, stage: Stage): Promise<void> {
  const { control } = stage;
  const phone = phoneNumber(9);
  await control.put(phone, { contacts: [friend] });
  await connect(stage, phone);
  const old = await control.code(phone);
  await control.expireCode(phone);
  const expired = await submit(stage, phone, 'code', old);
  t.match(expired, { status: 400, body: { error_code: 'invalid_code' } });
  const right = await submit(stage, phone, 'code', await control.code(phone));
  t.match(right, { status: 200, body: { status: 'connected' } }, 'a new one was sent');

  const vacant = phoneNumber(10);
  await control.put(vacant, { vacant: true });
  await connect(stage, vacant);
  const nobody = await submit(stage, vacant, 'code', await control.code(vacant));
  t.match(nobody, { status: 200, body: { status: 'error' } }, 'a number that has to sign up');
}

async function deleted(t: Test, stage: Stage): Promise<void> {
  const { api, control, gateway } = stage;
  const phone = phoneNumber(11);
  const accountId = await connectedByCode(stage, phone);
  await friendId(stage);
  const writing = Array.from({ length: 20 }, (_, number) =>
    control.write(phone, { from: friend.phone, text: `while it is deleted ${number}` }),
  );
  const answer = await api.delete(`/channels/chatapp/${phone}`);
  t.equal(answer.status, 200);
  await Promise.all(writing);
  await until('the session to be ended', async () =>
    (await control.sessions(phone)) === 0 ? true : undefined,
  );
  const warnings = gateway
    .output()
    .split('\n')
    .filter((line) => line.includes(accountId) && /"level":(40|50)/.test(line));
  t.same(warnings, [], 'nothing is wrong with it');
}

async function revoked(t: Test, stage: Stage): Promise<void> {
  const phone = phoneNumber(4);
  const id = await connectedByCode(stage, phone);
  await stage.control.revoke(phone);
  const status = await untilStatus(stage.api, 'chatapp', phone, 'disconnected');
  t.equal(status.reason, 'logged_out');
  const lost = 'account.disconnected disconnected logged_out';
  t.strictSame(await eventsOf(stage, id), [connected, lost]);

  const sending = phoneNumber(5);
  const account_id = await connectedByCode(stage, sending);
  await stage.control.revoke(sending, 'AUTH_KEY_UNREGISTERED', true);
  const to = { contact_id: await friendId(stage) };
  const message = await sendAccepted(stage.api, { account_id, to });
  const failed = await untilMessage(stage.api, message, 'failed');
  t.match(failed.error, /^logged_out: /);
  await untilStatus(stage.api, 'chatapp', sending, 'disconnected');
  t.strictSame(await eventsOf(stage, account_id), [connected, lost]);
}

async function banned(t: Test, stage: Stage): Promise<void> {
  const { api, control } = stage;
  const restricted = 'account.restricted restricted blocked_by_chatapp';
  const idle = phoneNumber(6);
  const idleId = await connectedByCode(stage, idle);
  await control.put(idle, { banned: true });
  await control.drop(idle);
  const status = await untilStatus(api, 'chatapp', idle, 'restricted');
  t.equal(status.reason, 'blocked_by_chatapp');
  t.strictSame(await eventsOf(stage, idleId), [connected, restricted]);

  const sending = phoneNumber(7);
  const account_id = await connectedByCode(stage, sending);
  await control.put(sending, { banned: true });
  const to = { contact_id: await friendId(stage) };
  const message = await sendAccepted(api, { account_id, to });
  await untilStatus(api, 'chatapp', sending, 'restricted');
  t.strictSame(await eventsOf(stage, account_id), [connected, restricted]);
  const kept = bodyOf<ShownMessage>(await api.get(`/messages/${message}`));
  t.equal(kept.status, 'queued', 'it waits for better times');
  t.match(await api.post('/messages', { account_id, to, text: 'again' }), { status: 409 });
}

async function flooded(t: Test, stage: Stage): Promise<void> {
  const { api, control } = stage;
  const phone = phoneNumber(8);
  const account_id = await connectedByCode(stage, phone);
  const to = { contact_id: await friendId(stage) };
  await control.flood(phone, ['users.getUsers', 'updates.getDifference'], 900);
  await control.drop(phone);
  await untilStatus(api, 'chatapp', phone, 'connected');
  const told = await control.write(phone, { from: friend.phone, text: 'while it waits' });
  t.type(told, 'string');
  await until('what was written meanwhile', async () => {
    const answer = await api.get(`/messages?direction=inbound&account_id=${account_id}`);
    const { messages } = bodyOf<{ messages: ShownMessage[] }>(answer);
    return messages.find(({ text }) => text === 'while it waits');
  });

  const startedAt = Date.now();
  await control.flood(phone, ['messages.sendMessage'], 1_800);
  const message = await sendAccepted(api, { account_id, to, text: 'patience' });
  await untilMessage(api, message, 'sent');
  t.ok(Date.now() - startedAt >= 1_500, 'as long as it was told to wait');
  t.equal((await control.outbox(phone)).filter(({ text }) => text === 'patience').length, 1);
  t.strictSame(await eventsOf(stage, account_id), [connected], 'a wait is no event');
}

for (const engine of storyDatabases('sqlite')) {
  t.test(`a live tenant's chatapp numbers, ${engine.name}`, async (t) => {
    const network = await startNetwork(t);
    const database = await engine.create(t);
    const settings = { ...network.settings, GATEWAY_SESSIONS__RECONNECT_MAX_S: '1' };
    const gateway = await runGateway(t, { databaseUrl: database.url, settings });
    const api = client(gateway.baseUrl, gateway.liveKey);
    const stage: Stage = { ...network, gateway, api, rows: openRows(t, database.url) };
    await t.test('by code', (t) => byCode(t, stage));
    await t.test('with a password', (t) => byPassword(t, stage));
    await t.test('by QR code', (t) => byQr(t, stage));
    await t.test('an expired code, and a number without an account', (t) => refused(t, stage));
    await t.test('a number that is deleted', (t) => deleted(t, stage));
    await t.test('a revoked session', (t) => revoked(t, stage));
    await t.test('a ban', (t) => banned(t, stage));
    await t.test('a wait for flooding', (t) => flooded(t, stage));
    const printed = gateway.output();
    for (const secret of ['Hello Ada', 'correct horse', network.settings.CHATAPP_API_HASH ?? '']) {
      t.notOk(printed.includes(secret), 'nothing secret is printed');
    }
  });
}
