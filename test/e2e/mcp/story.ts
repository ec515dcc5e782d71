import type { Test } from 'tap';
import { loginCode, phoneNumber, type ShownMessage } from '../../harness/story.ts';
import { expect, expectSoon, type World } from './world.ts';

const phones = { qr: phoneNumber(1), code: phoneNumber(2), chatapp: phoneNumber(3) };
const ada = phoneNumber(101);

interface Status {
  readonly phone_number: string;
  readonly status: string;
}

/** Connects a msgapp number by QR code, another by pairing code, each scanned as its owner would. */
export async function connectMsgapp(t: Test, world: World): Promise<void> {
  const { api } = world.gateway;
  const { accounts } = await expect<{ accounts: unknown[] }>(world, 200, 'list_accounts');
  t.strictSame(accounts, [], 'nothing is there to begin with');
  const body = { phone_number: phones.qr };
  const started = await expect<Status>(world, 200, 'connect_msgapp', { body });
  t.match(started, { status: 'connecting', pairing_code: null });
  const number = { phoneNumber: phones.qr };
  await expectSoon<{ status: string }>(world, 'get_msgapp_qr', number, { status: 'connecting' });
  const { body: code, picture } = await world.agent.call('get_msgapp_qr', number);
  t.match(code, { qr: /./ });
  t.notOk(JSON.stringify(code).includes('base64'), 'the picture costs no tokens of text');
  t.equal(picture?.subarray(1, 4).toString(), 'PNG', 'it comes as an image');
  await api.post(`/sandbox/phones/${phones.qr}/scan`);
  await expectSoon<Status>(world, 'get_msgapp_status', number, { status: 'connected' });
  const again = await world.agent.call('connect_msgapp', { body });
  t.match(again, { statusLine: '409 Conflict', body: { error_code: 'already_connected' } });

  const byCode = { phone_number: phones.code, link_method: 'pairing_code' };
  const pairing = await expect<Status>(world, 200, 'connect_msgapp', { body: byCode });
  t.match(pairing, { pairing_code: /^.{8}$/ });
  const noQr = await world.agent.call('get_msgapp_qr', { phoneNumber: phones.code });
  t.match(noQr, { status: 400, body: { error_code: 'qr_not_applicable' } });
  await api.post(`/sandbox/phones/${phones.code}/scan`);
  // In a tool the number is an argument: nothing is to be encoded.
  const phoneNumberArgument = { phoneNumber: phones.code.slice(1) };
  await expectSoon<Status>(world, 'get_msgapp_status', phoneNumberArgument, {
    status: 'connected',
  });
}

/** Connects a chatapp number by login code and two-factor password, with a wrong one of each first. */
export async function connectChatapp(t: Test, world: World): Promise<void> {
  const { api } = world.gateway;
  const phoneNumber = phones.chatapp;
  await api.put(`/sandbox/phones/${phoneNumber}?channel=chatapp`, { password: 'correct horse' });
  const body = { phone_number: phoneNumber };
  t.match(await expect<Status>(world, 200, 'connect_chatapp', { body }), {
    status: 'code_required',
  });
  const wrong = await world.agent.call('submit_chatapp_code', {
    phoneNumber,
    body: { code: 'x' },
  });
  t.match(wrong, { statusLine: '400 Bad Request', body: { error_code: 'invalid_code' } });
  const code = await loginCode(api, phoneNumber);
  t.match(
    await expect<Status>(world, 200, 'submit_chatapp_code', { phoneNumber, body: { code } }),
    { status: 'password_required' },
  );
  const wrongWord = { phoneNumber, body: { password: 'wrong' } };
  t.match((await world.agent.call('submit_chatapp_password', wrongWord)).body, {
    error_code: 'invalid_password',
  });
  const right = { phoneNumber, body: { password: 'correct horse' } };
  await expect<Status>(world, 200, 'submit_chatapp_password', right);
  await expectSoon<Status>(world, 'get_chatapp_status', { phoneNumber }, { status: 'connected' });
}

/** Sends, follows the message to the end, hears a contact and replies. */
export async function talk(t: Test, world: World): Promise<void> {
  const { api } = world.gateway;
  const list = await expect<{ accounts: { id: string; identifier: string; status: string }[] }>(
    world,
    200,
    'list_accounts',
  );
  t.strictSame(
    list.accounts.map(({ identifier, status }) => [identifier, status]),
    Object.values(phones).map((phone) => [phone, 'connected']),
  );
  const account_id = list.accounts[0]?.id;
  const to = { phone: ada };
  const unclear = await world.agent.call('send_message', { body: { to, text: 'Hello!' } });
  t.match(unclear, { statusLine: '400 Bad Request', body: { error_code: 'ambiguous_account' } });
  const { next_cursor: cursor } = await expect<{ next_cursor: string }>(
    world,
    200,
    'wait_for_messages',
    { timeout_s: 0 },
  );
  const sent = await expect<{ id: string; status: string; contact_id: string }>(
    world,
    202,
    'send_message',
    { body: { account_id, to, text: 'Hello!' } },
  );
  t.equal(sent.status, 'queued');
  await expectSoon<ShownMessage>(world, 'get_message', { id: sent.id }, { status: 'read' });

  const waiting = expect<{ messages: ShownMessage[] }>(world, 200, 'wait_for_messages', {
    cursor,
    timeout_s: 55,
  });
  const from = { phone: ada, name: 'Ada' };
  await api.post(`/sandbox/phones/${phones.qr}/inbound`, { from, text: 'Hello back!' });
  const { messages } = await waiting;
  t.match(messages, [{ text: 'Hello back!', direction: 'inbound', contact: from }]);
  t.equal(messages[0]?.contact.id, sent.contact_id);
  await expect(world, 202, 'send_message', {
    body: { account_id, to: { contact_id: sent.contact_id }, text: 'How are you?' },
  });
  const stranger = await world.agent.call('send_message', {
    body: { account_id: list.accounts[2]?.id, to, text: 'x' },
  });
  t.match(stranger, {
    statusLine: '422 Unprocessable Entity',
    body: { error_code: 'chatapp_requires_existing_contact' },
  });
  const missing = await world.agent.call('get_message', { id: 'msg_none' });
  t.match(missing, { statusLine: '404 Not Found', body: { error_code: 'message_not_found' } });
  const usage = await expect(world, 200, 'get_usage');
  t.match(usage, { sends: 2, new_contacts: 1, accounts_connected: 3 });
  t.strictSame(usage, (await api.get('/usage')).body, 'the same as by REST');
}

/** Disconnects all numbers; a repeated call says that there is nothing. */
export async function disconnect(t: Test, world: World): Promise<void> {
  for (const [tool, phoneNumber] of [
    ['disconnect_msgapp', phones.qr],
    ['disconnect_msgapp', phones.code],
    ['disconnect_chatapp', phones.chatapp],
  ] as const) {
    t.match(await expect(world, 200, tool, { phoneNumber }), { status: 'removed' });
    const again = await world.agent.call(tool, { phoneNumber });
    t.match(again, { status: 404, body: { error_code: 'connection_not_found' } });
  }
  t.strictSame(await expect(world, 200, 'list_accounts'), { accounts: [] });
}
