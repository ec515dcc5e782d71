import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type Client, client } from '../harness/client.ts';
import { type RunningGateway, runGateway } from '../harness/gateway.ts';
import { ownTenant } from '../harness/own-tenant.ts';
import { startReceiver } from '../harness/receiver.ts';
import { bodyOf, phoneNumber, sendAccepted, until, untilMessage } from '../harness/story.ts';
import { besideMachine, figuresOf, isWithin, type Times } from '../harness/times.ts';

const driver = join(import.meta.dirname, 'drivers/echo.mjs');

/** Healthy messages beside each misdeed. */
const beside = 4;

t.test('a driver that misbehaves takes nobody else down', async (t) => {
  const gateway = await runGateway(t, {
    databaseUrl: null,
    settings: {
      GATEWAY_CHANNELS__GOOD__DRIVER: driver,
      GATEWAY_CHANNELS__BAD__DRIVER: driver,
      GATEWAY_CHANNELS__BAD__OPTIONS: '{"closes":false}',
      GATEWAY_CHANNELS__WRONG__DRIVER: driver,
      GATEWAY_CHANNELS__WRONG__OPTIONS: '{"closes":"a secret"}',
      GATEWAY_CHANNELS__ABSENT__DRIVER: 'no-such-package-of-a-driver',
      GATEWAY_SESSIONS__REQUEST_TIMEOUT_S: '5',
    },
  });
  const api = client(gateway.baseUrl, gateway.liveKey);
  const connections = (channel: string) => `/channels/${channel}/connections`;

  const { channels } = bodyOf<{ channels: { channel: string; reason: string | null }[] }>(
    await api.get('/channels'),
  );
  t.strictSame(
    channels.slice(2).map(({ channel, reason }) => [channel, reason]),
    [
      ['good', null],
      ['bad', null],
      ['wrong', 'driver_off'],
      ['absent', 'driver_off'],
    ],
    'a package that fails leaves its own channel off',
  );
  const refused = {
    status: 403,
    body: { error_code: 'channel_not_enabled', error: /no working driver/ },
  };
  t.match(await api.post(connections('absent'), { identifier: 'ada@home' }), refused);
  t.match(await api.post(connections('nope'), { identifier: 'ada@home' }), {
    status: 403,
    body: { error_code: 'channel_not_enabled', error: /no channel "nope".* has .*, good, bad, / },
  });
  t.match(gateway.output(), /channels\.wrong\.options\.closes must be boolean/);
  t.match(gateway.output(), /no-such-package-of-a-driver/);
  t.notMatch(gateway.output(), /a secret/);

  const connect = async (channel: string, identifier: string): Promise<string> => {
    const begun = await api.post(connections(channel), { identifier });
    t.match(begun.body, { step: { type: 'ask', field: 'password' } });
    const steps = `${connections(channel)}/${identifier}/steps`;
    const done = await api.post(steps, { field: 'password', value: 'right' });
    t.match(done.body, { status: 'connected', step: null });
    return bodyOf<{ account_id: string }>(done).account_id;
  };
  const good = await connect('good', 'good@home');
  const bad = await connect('bad', 'bad@home');
  const times: Times[] = [];
  const healthy = async (): Promise<void> => {
    for (let n = 0; n < beside; n += 1) {
      const sending = async () => {
        const id = await sendAccepted(api, { account_id: good, to: { phone: phoneNumber(1) } });
        await untilMessage(api, id, 'read');
      };
      times.push(await besideMachine(sending));
    }
  };
  const slowest = () => times.reduce((one, other) => (other.tookMs > one.tookMs ? other : one));
  await healthy();
  const alone = slowest();
  times.length = 0;

  const to = { phone: phoneNumber(2) };
  const outcomes = [
    ['throws', 'failed'],
    ['leavesRejected', 'read'],
    ['throwsLater', 'read'],
    ['opensBadly', 'read'],
    ['emitsNonsense', 'read'],
    ['answersNonsense', 'failed'],
  ] as const;
  for (const [text, status] of outcomes) {
    // Of each kind of fault one line a second is written.
    if (text === 'throwsLater' || text === 'opensBadly') await sleep(1_100);
    const id = await sendAccepted(api, { account_id: bad, to, text });
    await Promise.all([untilMessage(api, id, status), healthy()]);
  }
  for (const identifier of ['never@opens', 'never@links']) {
    const [begun] = await Promise.all([api.post(connections('bad'), { identifier }), healthy()]);
    t.match(begun.body, { status: 'connecting', step: null }, identifier);
  }
  const fault = { status: 502, body: { error_code: 'driver_failed' } };
  for (const identifier of ['never@parses', 'later@parses']) {
    t.match(await api.post(connections('bad'), { identifier }), fault, identifier);
    t.match(await api.get(`${connections('bad')}/${identifier}/status`), fault, identifier);
  }
  await api.post(connections('bad'), { identifier: 'never@answers' });
  const step = { field: 'password', value: 'right' };
  t.match(await api.post(`${connections('bad')}/never@answers/steps`, step), fault);
  const leaves = await connect('bad', 'never@leaves');
  const [left] = await Promise.all([api.delete(`${connections('bad')}/never@leaves`), healthy()]);
  t.match(left.body, { status: 'removed' }, leaves);
  const aborts = await connect('bad', 'ada@home');
  const aborted = await sendAccepted(api, { account_id: aborts, to, text: 'abortsBadly' });
  await Promise.all([sleep(1_100), healthy()]);
  await api.delete(`${connections('bad')}/ada@home`);
  await Promise.all([untilMessage(api, aborted, 'failed'), healthy()]);
  const hung = await sendAccepted(api, { account_id: bad, to, text: 'hangs' });
  await healthy();
  t.match((await api.get(`/messages/${hung}`)).body, { status: 'queued' });

  const received = await until('every echo of the healthy driver', async () => {
    const answer = await api.get(`/messages?account_id=${good}&direction=inbound&limit=100`);
    const { messages } = bodyOf<{ messages: unknown[] }>(answer);
    return messages.length === times.length + beside ? messages.length : undefined;
  });
  t.comment(`${received} there and back; slowest alone: ${figuresOf(alone)}`);
  const late = times.filter((one) => !isWithin(one, 3_000)).map(figuresOf);
  t.same(late, [], `slowest beside: ${figuresOf(slowest())}`);

  const metrics = await (await fetch(new URL('/metrics', gateway.baseUrl))).text();
  const counted = (kind: string): number =>
    Number(
      new RegExp(`gateway_driver_faults_total\\{channel="bad",kind="${kind}"\\} (\\d+)`).exec(
        metrics,
      )?.[1],
    );
  t.equal(counted('unhandled'), 4);
  t.equal(counted('nonsense'), 7);
  t.ok(counted('threw') >= 7, `${counted('threw')} calls threw`);
  t.notMatch(metrics, /driver_faults_total\{channel="good"/);
  const lines = gateway.output();
  t.match(lines, /"channel":"bad","account":"acc_[^}]*left rejected by the driver/);
  t.match(lines, /"channel":"bad","account":"acc_[^}]*thrown later by the driver/);
  t.match(lines, /"channel":"bad","account":"acc_[^}]*thrown by an opened file/);
  t.match(lines, /"channel":"bad","account":"acc_[^}]*left rejected at the abort/);
  t.notMatch(lines, /"level":60/);
  t.equal(await gateway.stop(), 0, 'a driver that never closes does not hold up the stop');
  t.match(gateway.output(), /"call":"close"[^}]*does not come back/);
});

const usual = {
  LOG_LEVEL: 'info',
  GATEWAY_CHANNELS__KNOWN__DRIVER: driver,
  GATEWAY_CHANNELS__KNOWN__OPTIONS: '{"recipients":"contacts"}',
  GATEWAY_CHANNELS__IRC__DRIVER: driver,
  GATEWAY_CHANNELS__IRC__OPTIONS: '{"recipients":"address","max_text":12}',
  // This driver fails to read addresses. It comes before GOOD: one failing driver must not hide those after it.
  GATEWAY_CHANNELS__BLIND__DRIVER: driver,
  GATEWAY_CHANNELS__BLIND__OPTIONS: '{"recipients":"address","reads":false}',
  GATEWAY_CHANNELS__GOOD__DRIVER: driver,
  GATEWAY_CHANNELS__LOUD__DRIVER: driver,
};
const file = t;
let shared: Promise<RunningGateway> | undefined;

/** The gateway of all drivers that behave, and a client of a tenant of the test's own. */
async function world(t: Test): Promise<{ readonly gateway: RunningGateway; readonly api: Client }> {
  shared ??= runGateway(file, { databaseUrl: null, settings: usual });
  const gateway = await shared;
  const { api } = await ownTenant(gateway, t.name, 'live');
  return { gateway, api };
}

t.test('a channel of a driver from outside refuses in words of its own', async (t) => {
  const { api } = await world(t);
  const connections = '/channels/known/connections';
  const step = { field: 'password', value: 'right' };
  const notAwaited = { status: 400, body: { error_code: 'step_not_awaited' } };
  t.match(await api.post(`${connections}/ada@home/steps`, step), notAwaited, 'no record');
  await api.post(connections, { identifier: 'ada@home' });
  const code = { field: 'code', value: '12345' };
  t.match(await api.post(`${connections}/ada@home/steps`, code), notAwaited, 'a password is');
  const wrong = await api.post(`${connections}/ada@home/steps`, { ...step, value: 'wrong' });
  t.match(wrong, { status: 400, body: { error_code: 'invalid_password' } });
  t.match((await api.post(`${connections}/ada@home/steps`, step)).body, { status: 'connected' });
  t.match(await api.post(`${connections}/ada@home/steps`, step), notAwaited, 'connected');
  const sent = await api.post('/messages', { to: { phone: phoneNumber(1) }, text: 'hello' });
  t.match(sent, { status: 422, body: { error_code: 'contact_required' } });
});

t.test('a network that names its contacts by addresses', async (t) => {
  const { gateway, api } = await world(t);
  const connections = '/channels/irc/connections';
  const asked = await api.post(connections, { identifier: 'asks@more' });
  const question = { field: 'server_name', label: 'Which server?', secret: false };
  t.match(asked.body, { step: { type: 'ask', ...question } });
  const answer = (field: string, value: string) =>
    api.post(`${connections}/asks@more/steps`, { field, value });
  t.match(await answer('server_name', 'away'), {
    status: 400,
    body: { error_code: 'invalid_request', details: [{ path: 'body/value' }] },
  });
  t.match((await answer('nick', 'ada')).body, { error_code: 'step_not_awaited' });
  const next = await answer('server_name', 'home');
  t.match(next.body, { step: { field: 'password', label: 'Password', secret: true } });
  t.match((await answer('password', 'right')).body, { status: 'connected' });

  const send = (to: object, text = 'Hello!') => api.post('/messages', { to, text });
  const sent = await send({ address: 'Ben' });
  t.match(sent, { status: 202 });
  const { id, contact_id } = bodyOf<{ id: string; contact_id: string }>(sent);
  await untilMessage(api, id, 'read');
  t.match((await api.get(`/contacts/${contact_id}`)).body, { phone: null, address: 'ben' });
  const echo = await until('the echo', async () => {
    const page = await api.get('/messages?direction=inbound');
    return bodyOf<{ messages: { contact: object }[] }>(page).messages[0];
  });
  t.strictSame(echo.contact, { id: contact_id, phone: null, name: '' }, 'as specified');
  t.match((await send({ address: 'BEN', contact_id })).body, { contact_id });
  t.match((await api.get('/contacts?address=bEn')).body, { contacts: [{ id: contact_id }] });
  for (const [to, text, path] of [
    [{ address: 'b e n' }, 'Hello!', 'body/to/address'],
    [{ phone: phoneNumber(1) }, 'Hello!', 'body/to/phone'],
    [{ address: 'ben' }, 'Hello, Ben! Hello!', 'body/text'],
  ] as const) {
    t.match(await send(to, text), {
      status: 400,
      body: { error_code: 'invalid_request', details: [{ path }] },
    });
  }
  const made = await api.post('/contacts', { channel: 'irc', address: 'Cid', name: 'Cid' });
  t.match(made, { status: 201, body: { phone: null, address: 'cid', name: 'Cid' } });
  t.match(await api.post('/contacts', { channel: 'irc', address: 'cid' }), {
    status: 200,
    body: made.body as object,
  });
  t.match((await api.get('/usage')).body, { sends: 2, new_contacts: 1 });
  await send({ address: 'cid' });
  t.match((await api.get('/usage')).body, { sends: 3, new_contacts: 2 });
  const blind = '/channels/blind/connections';
  await api.post(blind, { identifier: 'ada@home' });
  const step = { field: 'password', value: 'right' };
  const linked = await api.post(`${blind}/ada@home/steps`, step);
  const { account_id } = bodyOf<{ account_id: string }>(linked);
  const failed = { status: 502, body: { error_code: 'driver_failed' } };
  const unread = { account_id, to: { address: 'ben' }, text: 'Hello!' };
  t.match(await api.post('/messages', unread), failed, 'its own channel is refused');
  t.match(await api.get('/contacts?channel=blind&address=ben'), failed);
  const folder = join(gateway.dataDir, 'drivers/irc');
  t.same(await readdir(folder), ['made']);
  t.equal((await stat(folder)).mode & 0o777, 0o700);
});

t.test('what a driver writes oddly is the same everywhere', async (t) => {
  const { api } = await world(t);
  const connections = '/channels/good/connections';
  await api.post(connections, { identifier: 'ada@home' });
  const step = { field: 'password', value: 'right' };
  t.match((await api.post(`${connections}/ada@home/steps`, step)).body, { status: 'connected' });
  const receiver = await startReceiver(t);
  const subscribed_to = ['message.received', 'message.failed'];
  t.equal((await api.post('/webhooks', { url: receiver.url(), subscribed_to })).status, 201);
  const start = bodyOf<{ cursor: string }>(await api.get('/events?timeout_s=0'));

  interface Odd {
    readonly id: string;
    readonly text: string;
    readonly contact: { readonly id: string; readonly name: string };
  }
  type Page = { readonly messages: readonly Odd[]; readonly next_cursor: string };
  const { next_cursor } = bodyOf<Page>(await api.get('/messages/wait?timeout_s=0'));
  const wait = `/messages/wait?timeout_s=20&cursor=${next_cursor}`;
  const waiting = api.get(wait);
  const to = { phone: phoneNumber(1) };
  const sent = await sendAccepted(api, { to, text: 'writesOddly' });
  const failed = await sendAccepted(api, { to, text: 'failsOddly' });
  await untilMessage(api, sent, 'read');
  await untilMessage(api, failed, 'failed');

  const found = await until('two odd messages and an echo', async () => {
    const page = bodyOf<Page>(await api.get('/messages?direction=inbound'));
    return page.messages.length === 3 ? page.messages : undefined;
  });
  const odd = found.filter(({ text }) => text === 'a\ufffdb\ufffd').reverse();
  const [first, second] = odd;
  t.equal(odd.length, 2, 'the repeated one is stored once');
  t.equal(first?.contact.id, second?.contact.id, 'one contact');
  t.equal(first?.contact.name, `${'n'.repeat(199)}\u{1f600}`, 'cut between characters');
  const [handed] = bodyOf<Page>(await waiting).messages;
  t.same(handed, first, 'handed over');
  t.same(bodyOf<Page>(await api.get(wait)).messages.slice(0, 2), odd, 'read');

  type Payload = { readonly message: Odd; readonly contact: Odd['contact'] };
  const ids = [first?.id, second?.id, failed];
  const payloads = async (all: readonly Payload[]) => {
    const wanted = ids.map((id) => all.find(({ message }) => message.id === id));
    return wanted.every((one) => one !== undefined) ? wanted : undefined;
  };
  const delivered = await until('the deliveries', () =>
    payloads(receiver.received.map(({ rawBody }) => JSON.parse(String(rawBody)))),
  );
  const listed = await until('the events', async () => {
    const page = await api.get(`/events?cursor=${start.cursor}&timeout_s=0`);
    return payloads(
      bodyOf<{ events: { payload: Payload }[] }>(page).events.map((one) => one.payload),
    );
  });
  t.same(listed, delivered);
  const shown = await Promise.all(ids.map((id) => api.get(`/messages/${id}`)));
  for (const [n, answer] of shown.entries()) {
    const { id, text, contact, error } = bodyOf<Odd & { error: string | null }>(answer);
    t.match(delivered[n], { message: { id, text, error }, contact });
  }
  for (const { rawBody } of receiver.received) t.notMatch(String(rawBody), /\\u(d83d|0000)/i);
});

t.test('a driver that floods the log is written down by the second, and counted', async (t) => {
  const { gateway, api } = await world(t);
  const connections = '/channels/loud/connections';
  await api.post(connections, { identifier: 'ada@home' });
  const step = { field: 'password', value: 'right' };
  t.match((await api.post(`${connections}/ada@home/steps`, step)).body, { status: 'connected' });
  const spam = async (): Promise<void> => {
    const id = await sendAccepted(api, { to: { phone: phoneNumber(1) }, text: 'spams' });
    await untilMessage(api, id, 'read');
  };
  const before = performance.now();
  await spam();
  await sleep(1_100);
  await spam();
  const seconds = Math.ceil((performance.now() - before) / 1_000);
  const of = (text: string) =>
    gateway
      .output()
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.includes(text));
  const faults = () => of('a driver said what its contract does not know');
  /** How many there were by the last of these lines. */
  const counted = (lines: readonly string[]) =>
    lines.reduce((sum, line) => sum + 1 + Number(/"left_out":(\d+)/.exec(line)?.[1] ?? 0), 0);
  await until('the lines of the second flood', async () =>
    counted(faults()) > 1_000 && counted(of('"said ')) > 2_000 ? true : undefined,
  );
  const [nonsense, said, all] = [faults(), of('said again and again'), of('"said ')];
  t.ok(nonsense.length >= 2 && nonsense.length <= seconds, `${nonsense.length} of 2000 faults`);
  t.ok(said.length >= 2 && said.length <= seconds, `${said.length} of 2000 lines`);
  t.ok(of('said in other words').length <= 10 * seconds, 'other words do not help');
  const [, last] = /"n":(\d+)/.exec(all.at(-1) ?? '') ?? [];
  const isOther = all.at(-1)?.includes('other words') === true;
  const expected = 2_000 + 2 * Number(last) + (isOther ? 2 : 1);
  t.equal(counted(all), expected, 'the next line says how many were left out');
  const metrics = await (await fetch(new URL('/metrics', gateway.baseUrl))).text();
  t.match(metrics, /driver_faults_total\{channel="loud",kind="nonsense"\} 2000/, 'each is counted');
});
