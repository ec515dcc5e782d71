import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { DriverError, DriverEvent } from '../../../core/contracts/driver.ts';
import { meaningOfName } from '../../../drivers/chatapp/rpc-errors.ts';
import { until } from '../../harness/story.ts';
import { friend, startBench, textTo } from './bench.ts';
import { quickTiming } from './running-network.ts';

const patient = () => AbortSignal.timeout(10_000);

t.test('what refusals mean', async (t) => {
  const table: readonly [number, string, object][] = [
    [401, 'SESSION_REVOKED', { kind: 'ended', reason: 'logged_out' }],
    [401, 'AUTH_KEY_UNREGISTERED', { kind: 'ended', reason: 'logged_out' }],
    [401, 'SESSION_EXPIRED', { kind: 'ended', reason: 'logged_out' }],
    [401, 'USER_DEACTIVATED', { kind: 'ended', reason: 'logged_out' }],
    [406, 'AUTH_KEY_DUPLICATED', { kind: 'ended', reason: 'replaced' }],
    [401, 'USER_DEACTIVATED_BAN', { kind: 'stopped', how: 'banned' }],
    [420, 'FROZEN_METHOD_INVALID', { kind: 'stopped', how: 'frozen' }],
    [400, 'PEER_FLOOD', { kind: 'new_contacts' }],
    [420, 'FLOOD_WAIT_17', { kind: 'wait', ms: 17_000, concerns: 'account' }],
    [420, 'FLOOD_WAIT_0', { kind: 'wait', ms: 1_000, concerns: 'account' }],
    [420, 'FLOOD_PREMIUM_WAIT_3', { kind: 'wait', ms: 3_000, concerns: 'account' }],
    [420, 'SLOWMODE_WAIT_5', { kind: 'wait', ms: 5_000, concerns: 'contact' }],
    [500, 'RANDOM_ID_DUPLICATE', { kind: 'duplicate' }],
    [500, 'WORKER_BUSY_TOO_LONG_RETRY', { kind: 'internal' }],
    [-503, 'Timeout', { kind: 'internal' }],
    [400, 'TIMEOUT', { kind: 'internal' }],
    [400, 'PEER_ID_INVALID', { kind: 'refused' }],
    [401, 'SESSION_PASSWORD_NEEDED', { kind: 'refused' }],
  ];
  for (const [code, name, verdict] of table) t.same(meaningOfName(code, name), verdict, name);
});

t.test('a session that is revoked', async (t) => {
  const bench = await startBench(t);
  for (const [name, reason] of [
    ['SESSION_REVOKED', 'logged_out'],
    ['AUTH_KEY_DUPLICATED', 'replaced'],
  ] as const) {
    const idle = await bench.linked();
    bench.control.revoke(idle.phone, name, true);
    t.match(await idle.port.state('logged_out'), { reason }, 'found out by asking');
  }

  const sending = await bench.linked();
  // Until nothing but the send can find out.
  await sleep(100);
  bench.control.revoke(sending.phone, 'SESSION_REVOKED', true);
  const refused = await sending.session
    .send(textTo(bench, 'msg_revoked'), patient())
    .catch((error: DriverError) => error);
  t.match(refused, { code: 'logged_out', certain: true, retryAfterMs: null });
  await sending.port.state('logged_out');

  const waiting = await bench.linked();
  bench.control.put(waiting.phone, { sends: 'delay' });
  const answer = waiting.session
    .send(textTo(bench, 'msg_waiting'), patient())
    .catch((error: DriverError) => error);
  await sleep(50);
  bench.control.revoke(waiting.phone, 'SESSION_REVOKED', true);
  t.match(
    await answer,
    { code: 'logged_out', certain: true, retryAfterMs: null },
    'a send hears its answer, though another call was told first that the session is gone',
  );
  await waiting.port.state('logged_out');

  const forgotten = await bench.linked();
  bench.control.forgetKeys(forgotten.phone);
  await forgotten.port.state('lost');
  await forgotten.session.resume();
  await forgotten.port.state('lost');
  await forgotten.session.resume();
  t.match(
    await forgotten.port.state('logged_out'),
    { reason: 'logged_out' },
    'a key that is not known twice is gone',
  );
});

t.test('a connection that the network hinders says why, and until when', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  for (const [code, name, reason, detail] of [
    [400, 'API_ID_INVALID', 'misconfigured', /drivers\.chatapp\.api_id.*tried again/],
    [406, 'UPDATE_APP_TO_LOGIN', 'version_refused', /newer release.*tried again/],
    [420, 'FLOOD_WAIT_90', 'rate_limited', /wait until 20.*tried again/],
    [400, 'SOMETHING_NEW', 'network_unreachable', /SOMETHING_NEW.*tried again/],
  ] as const) {
    const opened = await bench.linked();
    opened.session.close();
    control.refuse('users.getUsers', code, name, 1);
    const later = await bench.reopened(opened);
    const lost = await later.port.state('lost');
    t.match(lost, { reason, detail }, name);
    if (reason === 'rate_limited') t.ok((lost.retryAt ?? 0) > Date.now() + 60_000, 'until when');
    else t.equal(lost.retryAt, null);
    await later.session.resume();
    await later.port.state('connected');
    // Its next probe would take the refusal that is meant for another session.
    later.session.close();
  }

  const crowded = await bench.linked();
  control.setCrowded(true);
  t.match(await crowded.port.state('lost'), { reason: 'network_unreachable' });
  await crowded.session.resume();
  t.match(await crowded.port.state('lost'), {
    reason: 'rate_limited',
    detail: /from this address/,
  });
  control.setCrowded(false);

  const away = await bench.linked();
  control.setReachable(false);
  t.match(await away.port.state('lost'), { reason: 'network_unreachable', detail: /broke/ });
  await away.session.resume();
  t.match(await away.port.state('lost'), { reason: 'network_unreachable', detail: /tried again/ });
});

t.test('a ban, and its end', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  bench.control.put(opened.phone, { banned: true });
  t.match(await opened.port.state('restricted'), { scope: 'all', until: null });
  const refused = await opened.session
    .send(textTo(bench, 'msg_banned'), patient())
    .catch((error: DriverError) => error);
  t.match(refused, { code: 'blocked_by_chatapp', certain: true, retryAfterMs: Number });
  // Stored once it was told.
  await sleep(50);
  const again = await bench.reopened(opened);
  await again.port.state('connected');
  t.notOk(again.port.events.some(isState('restricted')), 'it was told before');
  bench.control.put(opened.phone, { banned: false });
  await again.port.state('unrestricted');
  await again.session.send(textTo(bench, 'msg_banned', 2), patient());

  const sending = await bench.linked();
  bench.control.put(sending.phone, { banned: true });
  const first = await sending.session
    .send(textTo(bench, 'msg_while_banned'), patient())
    .catch((error: DriverError) => error);
  t.match(first, { certain: true, retryAfterMs: Number });
  await sending.port.state('restricted');
  t.equal(sending.port.events.filter(isState('restricted')).length, 1);
});

t.test('a banned account is asked for its state alone', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 50 });
  const { control } = bench;
  const opened = await bench.linked();
  const { phone } = opened;
  control.put(phone, { banned: true });
  await opened.port.state('restricted');
  const again = await bench.reopened(opened);
  await again.port.state('connected');
  control.write(phone, { from: friend.phone, text: 'meanwhile' });
  const calls = (method: string) => control.calls(phone)[method] ?? 0;
  const asked = () => calls('updates.getDifference') + calls('contacts.getContacts');
  await sleep(200);
  const [before, checks] = [asked(), calls('users.getUsers')];
  await until('checks', async () => calls('users.getUsers') >= checks + 20 || undefined);
  t.equal(asked(), before);
  control.put(phone, { banned: false });
  await again.port.state('unrestricted');
  t.match(await again.port.message(), { text: 'meanwhile' });
});

t.test('what the network refuses is asked for less and less often', async (t) => {
  const bench = await startBench(t, { ...quickTiming, retry: 20, probe: 320 });
  bench.control.refuse('contacts.getContacts', 400, 'SOMETHING_NEW');
  const { phone } = await bench.linked();
  const calls = (method: string) => bench.control.calls(phone)[method] ?? 0;
  const checks = calls('users.getUsers');
  await until('checks', async () => calls('users.getUsers') >= checks + 6 || undefined);
  t.ok(calls('contacts.getContacts') <= 12, `asked ${calls('contacts.getContacts')} times`);
});

t.test('a ban that could not be kept is told after a restart', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  opened.port.onEmit = async (event) => {
    if ('state' in event && event.state === 'restricted') throw new Error('the database is away');
  };
  bench.control.put(opened.phone, { banned: true });
  await opened.port.state('restricted');
  // Stored all the same.
  await sleep(50);
  const again = await bench.reopened(opened);
  t.match(await again.port.state('restricted'), { scope: 'all', until: null });
});

t.test('frozen: the day of deletion is no end of the restriction', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  bench.control.put(opened.phone, { frozenUntil: Date.UTC(2099, 0, 1) / 1000 });
  t.match(await opened.port.state('restricted'), {
    ...{ scope: 'all', until: null },
    detail: /deletes the account on 2099-01-01T00:00:00.000Z/,
  });
  const refused = await opened.session
    .send(textTo(bench, 'msg_frozen'), patient())
    .catch((error: DriverError) => error);
  t.match(refused, { code: 'blocked_by_chatapp', certain: true, retryAfterMs: Number });
  t.equal(opened.port.events.filter(isState('restricted')).length, 1, 'told once');
  bench.control.put(opened.phone, { frozenUntil: null });
  await opened.port.state('unrestricted');
  await opened.session.send(textTo(bench, 'msg_frozen', 2), patient());
});

t.test('a refusal of a new contact behind a freeze leaves the freeze', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 60_000 });
  const { phone, port, session } = await bench.linked();
  const { control } = bench;
  control.put(phone, { limited: true, sends: 'pause' });
  const refusal = (reference: string) =>
    session.send(textTo(bench, reference), patient()).catch((error: DriverError) => error);
  const late = refusal('msg_late');
  await until('the send', async () => control.calls(phone)['messages.sendMessage']);
  control.refuse('messages.sendMessage', 420, 'FROZEN_METHOD_INVALID', 1);
  control.refuse('help.getAppConfig', 400, 'SOMETHING_NEW', 1);
  t.match(await refusal('msg_frozen'), { code: 'blocked_by_chatapp', retryAfterMs: Number });
  t.match(await port.state('restricted'), { scope: 'all' });
  control.put(phone, { sends: 'accept' });
  t.match(await late, { code: 'blocked_by_chatapp', certain: true, message: /new contacts/ });
  t.same(
    port.events.filter(isState('restricted')).map((event) => 'scope' in event && event.scope),
    ['all'],
  );
});

t.test('told to wait', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 50 });
  const opened = await bench.linked();
  bench.control.flood(opened.phone, ['messages.sendMessage', 'users.getUsers'], 900);
  const message = textTo(bench, 'msg_flood');
  const refused = await opened.session.send(message, patient()).catch((e: DriverError) => e);
  t.match(refused, { code: 'flood_wait', certain: true, retryAfterMs: 1_000 });
  await sleep(200);
  t.same(
    opened.port.events.filter(({ type }) => type === 'state'),
    [{ type: 'state', state: 'connected' }],
    'a wait is no event, while idle and while sending',
  );
  await sleep(800);
  await opened.session.send(message, patient());
  t.equal(bench.control.outbox(opened.phone).length, 1);
});

t.test('a session is not checked inside a wait that the network names', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 50 });
  const { phone } = await bench.linked();
  const calls = () => bench.control.calls(phone)['users.getUsers'] ?? 0;
  bench.control.refuse('users.getUsers', 420, 'FLOOD_WAIT_2', 1);
  const isRefused = () => bench.network.refusals.get('users.getUsers')?.left === 0;
  await until('the refusal', async () => isRefused() || undefined);
  const [refused, at] = [calls(), performance.now()];
  await until('the next check', async () => calls() > refused || undefined);
  const waitedMs = performance.now() - at;
  t.ok(waitedMs > 1_000, `after ${waitedMs} ms`);
});

t.test('a reconnect inside the wait for the check comes back, and asks no more', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 50 });
  const { control } = bench;
  const { phone, port, session } = await bench.linked();
  const calls = () => control.calls(phone)['users.getUsers'] ?? 0;
  const before = calls();
  control.refuse('users.getUsers', 420, 'FLOOD_WAIT_600');
  await until('the refusal', async () => calls() > before || undefined);
  // Answered behind the refusal.
  await session.send(textTo(bench, 'msg_before'), patient());
  const asked = calls();
  control.drop(phone);
  await port.state('lost');
  await session.resume();
  await port.state('connected');
  await session.send(textTo(bench, 'msg_meanwhile'), patient());
  t.equal(calls(), asked);

  control.setReachable(false);
  await port.state('lost');
  await session.resume();
  t.match(await port.state('lost'), { reason: 'network_unreachable' }, 'the network is asked');
  control.setReachable(true);
  control.revoke(phone, 'SESSION_REVOKED', true);
  await session.resume();
  t.match(await port.state('logged_out'), { reason: 'logged_out' }, 'and whether the session is');
  t.equal(calls(), asked);
});

t.test('a wait for one question of the check is none for the other', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 50 });
  const { control } = bench;
  const { phone, port } = await bench.linked();
  const calls = (method: string) => control.calls(phone)[method] ?? 0;
  control.put(phone, { frozenUntil: Date.UTC(2099, 0, 1) / 1000 });
  await port.state('restricted');
  control.refuse('help.getAppConfig', 420, 'FLOOD_WAIT_600', 1);
  const isRefused = () => bench.network.refusals.get('help.getAppConfig')?.left === 0;
  await until('the refusal', async () => isRefused() || undefined);
  const [frozen, checks] = [calls('help.getAppConfig'), calls('users.getUsers')];
  await until('checks', async () => calls('users.getUsers') >= checks + 5 || undefined);
  t.equal(calls('help.getAppConfig'), frozen, 'not asked inside its wait');
  t.notOk(port.events.some(isState('lost')));
});

t.test('a freeze inside the wait for the check of the session ends in time', async (t) => {
  const bench = await startBench(t, { ...quickTiming, probe: 50 });
  const { control, network } = bench;
  const { phone, port, session } = await bench.linked();
  const calls = () => control.calls(phone)['users.getUsers'] ?? 0;
  const before = calls();
  control.refuse('users.getUsers', 420, 'FLOOD_WAIT_600');
  await until('the refusal', async () => calls() > before || undefined);
  // Answered behind the refusal.
  await session.send(textTo(bench, 'msg_before'), patient());
  control.put(phone, { frozenUntil: Date.UTC(2099, 0, 1) / 1000 });
  await port.state('restricted');
  // Without a push.
  network.subscriber(phone).frozenUntil = null;
  await port.state('unrestricted');
});

t.test('only known contacts', async (t) => {
  const bench = await startBench(t);
  const opened = await bench.linked();
  bench.control.put(opened.phone, { limited: true });
  const refused = await opened.session
    .send(textTo(bench, 'msg_stranger'), patient())
    .catch((error: DriverError) => error);
  t.match(refused, {
    ...{ code: 'blocked_by_chatapp', certain: true, retryAfterMs: null },
    message: /new contacts until \d{4}-\S+Z$/,
  });
  const told = await opened.port.state('restricted');
  t.equal(told.scope, 'new_contacts');
  t.ok((told.until ?? 0) > Date.now(), 'it is tried again later');
  bench.control.write(opened.phone, { from: friend.phone, text: 'hello' });
  await opened.port.message();
  await opened.session.send(textTo(bench, 'msg_known'), patient());
});

function isState(state: string) {
  return (event: DriverEvent) => event.type === 'state' && event.state === state;
}
