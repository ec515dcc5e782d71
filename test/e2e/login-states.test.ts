import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Client, ClientAnswer } from '../harness/client.ts';
import { storyDatabases } from '../harness/databases.ts';
import { type Fleet, type FleetTenant, runFleet } from '../harness/fleet.ts';
import { freePort } from '../harness/ports.ts';
import { startProcess } from '../harness/processes.ts';
import {
  befall,
  bodyOf,
  type ConnectionStatus,
  loginCode,
  phoneNumber,
  scan,
  undated,
  unhindered,
  until,
  untilStatus,
} from '../harness/story.ts';
import { accountEvents } from './recorded.ts';

/** Lifetimes of the QR codes, in milliseconds: the first is renewed soon, the second stays. */
const lifetimes = '1500,60000';
const connected = ['account.connected connected null'];

interface Started extends ConnectionStatus {
  readonly account_id: string;
  readonly expires_at?: string | null;
}

async function connect(api: Client, phone_number: string, more: object = {}): Promise<Started> {
  const answer = await api.post('/channels/chatapp/connect', { phone_number, ...more });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return bodyOf<Started>(answer);
}

function submit(
  api: Client,
  phone: string,
  field: 'code' | 'password',
  value: string,
): Promise<ClientAnswer> {
  return api.post(`/channels/chatapp/connect/${phone}/verify-${field}`, { [field]: value });
}

async function statusOf(api: Client, phone: string): Promise<ConnectionStatus> {
  return bodyOf<ConnectionStatus>(await api.get(`/channels/chatapp/connect/${phone}/status`));
}

async function byCode(t: Test, { rows }: Fleet, { id: tenantId, api }: FleetTenant): Promise<void> {
  const phone = phoneNumber(1);
  const answer = await api.post('/channels/chatapp/connect', { phone_number: phone });
  const { account_id } = bodyOf<Started>(answer);
  const begun = { phone_number: phone, status: 'code_required', ...unhindered };
  t.strictSame(undated(answer.body), { ...begun, account_id });
  t.strictSame(undated(await statusOf(api, phone)), {
    ...begun,
  });
  t.match((await submit(api, phone, 'password', 'x')).body, { error_code: 'invalid_password' });
  const first = await loginCode(api, phone);
  const wrong = await submit(api, phone, 'code', `${first}0`);
  t.match(wrong, { status: 400, body: { error_code: 'invalid_code' } });
  t.match(await statusOf(api, phone), { status: 'code_required' }, 'the step stays open');

  t.equal((await connect(api, phone)).account_id, account_id, 'an unfinished login is reset');
  const second = await loginCode(api, phone);
  t.strictSame(await accountEvents(rows, tenantId, account_id), []);
  const right = await submit(api, phone, 'code', second);
  const done = { phone_number: phone, status: 'connected', ...unhindered };
  t.strictSame([right.status, undated(right.body)], [200, done]);
  t.strictSame(undated(await statusOf(api, phone)), {
    ...done,
  });
  for (const [field, code] of [
    ['code', 'invalid_code'],
    ['password', 'invalid_password'],
  ] as const) {
    t.match(await submit(api, phone, field, second), { status: 400, body: { error_code: code } });
  }
  t.strictSame(await accountEvents(rows, tenantId, account_id), connected);
}

async function byPassword(t: Test, { rows }: Fleet, { id: tenantId, api }: FleetTenant) {
  const phone = phoneNumber(2);
  const friend = { phone: phoneNumber(1001), name: 'Ada' };
  await api.put(`/sandbox/phones/${phone}?channel=chatapp`, {
    password: 'correct horse',
    contacts: [friend],
  });
  const { account_id } = await connect(api, phone, { mode: 'code' });
  const taken = await submit(api, phone, 'code', await loginCode(api, phone));
  t.strictSame(
    [taken.status, undated(taken.body)],
    [...[200, { phone_number: phone, status: 'password_required', ...unhindered }]],
  );
  t.match(await statusOf(api, phone), { status: 'password_required', reason: null });
  const code = await submit(api, phone, 'code', '12345');
  t.match(code, { status: 400, body: { error_code: 'invalid_code' } }, 'no code is awaited');
  const wrong = await submit(api, phone, 'password', 'Correct horse');
  t.match(wrong, { status: 400, body: { error_code: 'invalid_password' } });
  t.match(await statusOf(api, phone), { status: 'password_required' });
  const right = await submit(api, phone, 'password', 'correct horse');
  const done = { phone_number: phone, status: 'connected', ...unhindered };
  t.strictSame([right.status, undated(right.body)], [200, done]);
  t.strictSame(await accountEvents(rows, tenantId, account_id), connected);
  await writesToContactsOnly(t, api, account_id, friend);
}

/** The account's contacts come with it, and nobody else can be messaged. */
async function writesToContactsOnly(
  t: Test,
  api: Client,
  account_id: string,
  friend: { readonly phone: string; readonly name: string },
): Promise<void> {
  const path = `/contacts?channel=chatapp&phone=${encodeURIComponent(friend.phone)}`;
  const contact = await until('the contact', async () => {
    const { contacts } = bodyOf<{ contacts: { id: string; name: string }[] }>(await api.get(path));
    return contacts[0];
  });
  t.equal(contact.name, friend.name);
  const sent = await api.post('/messages', {
    account_id,
    to: { contact_id: contact.id },
    text: 'Hello',
  });
  t.equal(sent.status, 202);
  const { id } = bodyOf<{ id: string }>(sent);
  await until('the message to be read', async () => {
    const { status } = bodyOf<{ status: string }>(await api.get(`/messages/${id}`));
    return status === 'read' ? true : undefined;
  });
  const stranger = { account_id, to: { phone: phoneNumber(1002) }, text: 'Hello' };
  t.match(await api.post('/messages', stranger), {
    status: 422,
    body: { error_code: 'chatapp_requires_existing_contact' },
  });
}

/** The fifth wrong value of a step ends it. */
async function fiveWrong(
  t: Test,
  { rows }: Fleet,
  { id: tenantId, api }: FleetTenant,
  field: 'code' | 'password',
): Promise<void> {
  const phone = phoneNumber(field === 'code' ? 3 : 4);
  const password = field === 'password' ? 'correct horse' : null;
  await api.put(`/sandbox/phones/${phone}?channel=chatapp`, { password });
  const { account_id } = await connect(api, phone);
  if (field === 'password') {
    // Wrong codes before it do not count for the password.
    for (const code of ['1', '2', '3']) await submit(api, phone, 'code', code);
    await submit(api, phone, 'code', await loginCode(api, phone));
  }
  for (const n of [1, 2, 3, 4, 5]) {
    t.match(await statusOf(api, phone), { status: `${field}_required` }, `before wrong value ${n}`);
    const wrong = await submit(api, phone, field, `wrong ${n}`);
    t.match(wrong, { status: 400, body: { error_code: `invalid_${field}` } });
  }
  t.match(await statusOf(api, phone), { status: 'error' });
  const right = field === 'code' ? await loginCode(api, phone) : 'correct horse';
  t.equal((await submit(api, phone, field, right)).status, 400, 'nothing is awaited any more');
  t.match(await statusOf(api, phone), { status: 'error' });
  t.strictSame(await accountEvents(rows, tenantId, account_id), [], 'it never was connected');
  const again = await connect(api, phone);
  t.match(again, { account_id, status: 'code_required' });
  await submit(api, phone, 'code', await loginCode(api, phone));
  if (password !== null) await submit(api, phone, 'password', password);
  t.match(await statusOf(api, phone), { status: 'connected' });
  t.strictSame(await accountEvents(rows, tenantId, account_id), connected);
}

async function byQr(t: Test, { rows }: Fleet, { id: tenantId, api }: FleetTenant): Promise<void> {
  const phone = phoneNumber(5);
  const begun = await connect(api, phone, { mode: 'qr' });
  const { account_id, login_token } = begun;
  t.match(begun, { status: 'qr_required', login_token: /./, qr_url: /./, expires_at: /Z$/ });
  t.match(begun.qr_url, new RegExp(`[=]${login_token}$`));
  const renewed = await until('the token to be renewed', async () => {
    const status = await statusOf(api, phone);
    t.equal(status.status, 'qr_required');
    return status.login_token === login_token ? undefined : status;
  });
  t.match(renewed, { login_token: /./, qr_url: new RegExp(`[=]${renewed.login_token}$`) });
  const view = await api.get(`/sandbox/phones/${phone}`);
  t.match(view.body, { state: 'pairing', qr: renewed.qr_url });
  await scan(api, phone);
  const status = await untilStatus(api, 'chatapp', phone, 'connected');
  t.strictSame(undated(status), { phone_number: phone, status: 'connected', ...unhindered });
  t.strictSame(await accountEvents(rows, tenantId, account_id), connected);

  const late = phoneNumber(8);
  await connect(api, late, { mode: 'qr' });
  await befall(api, late, { type: 'expire_qr' });
  const expired = await untilStatus(api, 'chatapp', late, 'connecting');
  t.match(expired, { reason: null, login_token: null, qr_url: null }, 'the last token ran out');
  t.match(await connect(api, late, { mode: 'qr' }), { status: 'qr_required', login_token: /./ });

  const guarded = phoneNumber(6);
  await api.put(`/sandbox/phones/${guarded}?channel=chatapp`, { password: 'correct horse' });
  await connect(api, guarded, { mode: 'qr' });
  await scan(api, guarded);
  await untilStatus(api, 'chatapp', guarded, 'password_required');
  t.match((await submit(api, guarded, 'password', 'correct horse')).body, { status: 'connected' });
}

async function none(t: Test, { rows }: Fleet, { id: tenantId, api }: FleetTenant): Promise<void> {
  const phone = phoneNumber(7);
  const missing = { status: 404, body: { error_code: 'connection_not_found' } };
  t.match(await api.get(`/channels/chatapp/connect/${phone}/status`), missing);
  t.match(await api.delete(`/channels/chatapp/${phone}`), missing);
  const { account_id } = await connect(api, phone);
  const gone = await api.delete(`/channels/chatapp/${phone}`);
  t.strictSame(gone.body, { phone_number: phone, status: 'removed' });
  t.match(await api.get(`/channels/chatapp/connect/${phone}/status`), missing);
  t.match(await api.delete(`/channels/chatapp/${phone}`), missing, 'a repeated delete');
  t.match(await submit(api, phone, 'code', '12345'), { status: 400 });
  t.strictSame(await accountEvents(rows, tenantId, account_id), []);

  await api.put('/sandbox/network', { reachable: false });
  for (const mode of ['code', 'qr']) {
    const answer = await api.post('/channels/chatapp/connect', { phone_number: phone, mode });
    t.match(answer, { status: 503, body: { error_code: 'unavailable' } }, `${mode}, out of reach`);
  }
  t.match(await api.get(`/channels/chatapp/connect/${phone}/status`), missing, 'undone');
  await api.put('/sandbox/network', { reachable: true });
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  t.match(await api.get(`/channels/chatapp/connect/${phone}/status`), missing, 'and stays so');
  t.not((await connect(api, phone)).account_id, account_id, 'a new record');
}

for (const engine of storyDatabases('mariadb')) {
  t.test(`logging a chatapp number in, ${engine.name}`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'network-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    const SIMULATED_NETWORK_URL = `tcp://:${'s'.repeat(16)}@127.0.0.1:${await freePort()}`;
    const program = ['drivers/simulated/network/main.ts', `--qr-lifetimes-ms=${lifetimes}`];
    const network = startProcess(t, program, { SIMULATED_NETWORK_URL, DATA_DIR: folder });
    await network.waitFor(/listening/);
    const fleet = await runFleet(t, engine, { SIMULATED_NETWORK_URL });
    const tenant = await fleet.tenant('growth');
    await t.test('by code', (t) => byCode(t, fleet, tenant));
    await t.test('with a password', (t) => byPassword(t, fleet, tenant));
    await t.test('five wrong codes', (t) => fiveWrong(t, fleet, tenant, 'code'));
    await t.test('five wrong passwords', (t) => fiveWrong(t, fleet, tenant, 'password'));
    await t.test('by QR code', (t) => byQr(t, fleet, tenant));
    await t.test('no session', (t) => none(t, fleet, tenant));
  });
}
