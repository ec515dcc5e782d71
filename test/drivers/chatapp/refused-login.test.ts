import t, { type Test } from 'tap';
import { DriverError } from '../../../core/contracts/driver.ts';
import { isAskFor } from '../../../testing/contract/driver/steps.ts';
import { phoneNumber } from '../../harness/story.ts';
import { type Bench, link, type Opened, startBench } from './bench.ts';

/** What the network says to a login, and what the user reads of it. */
const refusals: readonly [code: number, name: string, reason: string, detail: RegExp][] = [
  [400, 'API_ID_INVALID', 'misconfigured', /drivers\.chatapp\.api_id/],
  [400, 'API_ID_PUBLISHED_FLOOD', 'misconfigured', /drivers\.chatapp\.api_id/],
  [420, 'FLOOD_WAIT_7200', 'rate_limited', /wait until 20.*connect the number again/],
  [406, 'PHONE_PASSWORD_FLOOD', 'rate_limited', /too many logins/],
  [400, 'PHONE_NUMBER_BANNED', 'blocked_by_chatapp', /banned/],
  [406, 'UPDATE_APP_TO_LOGIN', 'version_refused', /newer release/],
  [400, 'SOMETHING_NEW', 'login_refused', /SOMETHING_NEW/],
];

t.test('a login that the network refuses says why, and is over', async (t) => {
  const bench = await startBench(t);
  for (const [method, asked] of [
    ['code', 'auth.sendCode'],
    ['qr', 'auth.exportLoginToken'],
  ] as const) {
    for (const [code, name, reason, detail] of refusals) {
      const opened = bench.open();
      bench.control.refuse(asked, code, name, 1);
      await link(opened, method);
      const refused = await opened.port.state('refused');
      t.match(refused, { reason, detail }, `${method}, ${name}`);
      if (name === 'FLOOD_WAIT_7200') isAbout(t, refused.retryAt, 7_200_000);
      await t.rejects(opened.session.answer('code', '1'), DriverError, 'the login is over');
    }
  }
  const nobody = bench.open(phoneNumber(500));
  await link(nobody, 'code');
  t.match(await nobody.port.state('refused'), { reason: 'no_such_number', detail: /sign up/ });
});

t.test('a code or a password that the network refuses with the whole login', async (t) => {
  const bench = await startBench(t);
  for (const [code, name, reason] of refusals) {
    const opened = await asked(bench);
    bench.control.refuse('auth.signIn', code, name, 1);
    const answer = await opened.session.answer('code', bench.control.code(opened.phone));
    t.same(answer, { accepted: true }, 'the status says what has become of it');
    t.match(opened.port.events.at(-1), { state: 'refused', reason }, name);
    // A proof of a password takes the fake network half a second.
    if (reason !== 'rate_limited') continue;

    const second = await asked(bench, 'correct horse');
    await second.session.answer('code', bench.control.code(second.phone));
    bench.control.refuse('auth.checkPassword', code, name, 1);
    t.same(await second.session.answer('password', 'correct horse'), { accepted: true });
    t.match(second.port.events.at(-1), { state: 'refused', reason }, name);

    const scanned = bench.open();
    bench.control.put(scanned.phone, { password: 'correct horse' });
    await link(scanned, 'qr');
    bench.control.scan(scanned.phone, (await scanned.port.step('show_qr')).data);
    await scanned.port.next('question', isAskFor('password'));
    bench.control.refuse('auth.checkPassword', code, name, 1);
    t.same(await scanned.session.answer('password', 'correct horse'), { accepted: true });
    t.match(scanned.port.events.at(-1), { state: 'refused', reason }, name);
  }
  for (const secret of ['correct horse']) bench.log.forbid(secret);
  t.same(bench.log.offending(), []);
});

t.test('a value that the network could not judge may be handed in again later', async (t) => {
  const bench = await startBench(t);
  const opened = await asked(bench);
  bench.control.refuse('auth.signIn', 303, 'USER_MIGRATE_9', 1);
  const value = bench.control.code(opened.phone);
  await t.rejects(opened.session.answer('code', value), DriverError);
  t.match(opened.port.events.at(-1), { state: 'lost', reason: 'network_unreachable' });

  const dropped = await asked(bench);
  bench.control.setReachable(false);
  await t.rejects(dropped.session.answer('code', '12345'), DriverError);
  await dropped.port.state('lost');
  bench.control.setReachable(true);
});

t.test('a code that was sent outlives the connection', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  const opened = await asked(bench, 'correct horse');
  const { phone, port, session } = opened;
  const again = async () => {
    control.setReachable(false);
    await port.state('lost');
    await link(opened, 'code');
    await port.state('lost');
    control.setReachable(true);
    await link(opened, 'code');
  };
  const value = control.code(phone);
  await again();
  await port.next('question', isAskFor('code'));
  t.equal(control.code(phone), value, 'no other is sent');
  t.same(await session.answer('code', value), { accepted: true });
  await port.next('question', isAskFor('password'));
  await again();
  await port.next('question', isAskFor('password'));
  t.same(await session.answer('password', 'correct horse'), { accepted: true });
  t.match(port.events.at(-1), { state: 'connected' });
  t.equal(control.sessions(phone), 1);
  t.ok(port.credentials.values.has('session'), 'the link is stored');
});

t.test('another code is sent once the one in hand is of no use', async (t) => {
  const bench = await startBench(t);
  const { control } = bench;
  const lost = async ({ port }: Opened) => {
    control.setReachable(false);
    await port.state('lost');
    control.setReachable(true);
  };

  const late = await asked(bench);
  const old = control.code(late.phone);
  await lost(late);
  control.expireCode(late.phone);
  await link(late, 'code');
  await late.port.next('question', isAskFor('code'));
  t.match(await late.session.answer('code', old), { accepted: false, detail: /expired.*new one/ });
  await late.session.answer('code', control.code(late.phone));
  t.match(late.port.events.at(-1), { state: 'connected' });

  const forgotten = await asked(bench);
  const hash = () => bench.network.subscriber(forgotten.phone).codeHash;
  const first = hash();
  await lost(forgotten);
  bench.network.keys.clear();
  await link(forgotten, 'code');
  await forgotten.port.state('lost');
  await link(forgotten, 'code');
  await forgotten.port.next('question', isAskFor('code'));
  const second = hash();
  t.not(second, first, 'with another key');
  await link(forgotten, 'code');
  await forgotten.port.next('question', isAskFor('code'));
  t.not(hash(), second, 'nor does a link without a loss go on');
});

t.test('an expired code is said to be expired, and a new one is sent', async (t) => {
  const bench = await startBench(t);
  const opened = await asked(bench);
  const { control } = bench;
  const old = control.code(opened.phone);
  control.expireCode(opened.phone);
  t.match(await opened.session.answer('code', old), {
    accepted: false,
    detail: /expired.*new one/,
  });
  t.notOk(
    opened.port.events.some(({ type }) => type === 'state'),
    'the step stays open',
  );
  t.same(await opened.session.answer('code', control.code(opened.phone)), { accepted: true });
  t.match(opened.port.events.at(-1), { state: 'connected' });

  const late = await asked(bench);
  control.expireCode(late.phone);
  control.refuse('auth.sendCode', 420, 'FLOOD_WAIT_60', 1);
  t.same(await late.session.answer('code', '12345'), { accepted: true });
  t.match(late.port.events.at(-1), { state: 'refused', reason: 'rate_limited' });
});

t.test('a number that nobody has signed up with has no account', async (t) => {
  const bench = await startBench(t);
  const byCode = await asked(bench);
  bench.control.put(byCode.phone, { vacant: true });
  const value = bench.control.code(byCode.phone);
  t.same(await byCode.session.answer('code', value), { accepted: true });
  t.match(byCode.port.events.at(-1), { state: 'refused', reason: 'no_such_number' });

  const byQr = bench.open();
  bench.control.put(byQr.phone, { vacant: true });
  await link(byQr, 'qr');
  bench.control.scan(byQr.phone, (await byQr.port.step('show_qr')).data);
  t.match(await byQr.port.state('refused'), { reason: 'no_such_number' });
});

t.test('the phone of another number leaves nobody connected', async (t) => {
  const bench = await startBench(t);
  const other = phoneNumber(800);
  bench.control.put(other, { password: 'correct horse' });
  const isRefused = async (opened: Opened) => {
    const refused = await opened.port.state('refused');
    t.match(refused, { reason: 'wrong_phone', detail: /ends in 0800.*logged out again/ });
    t.equal(bench.control.sessions(other), 0, 'logged out on the network');
    t.equal(opened.port.credentials.values.size, 0, 'nothing is kept of it');
    t.notOk(opened.port.events.some(({ type }) => type === 'message' || type === 'contacts'));
  };

  await t.test('by QR code and password', async () => {
    const opened = bench.open();
    await link(opened, 'qr');
    bench.control.scan(other, (await opened.port.step('show_qr')).data);
    await opened.port.next('question', isAskFor('password'));
    await opened.session.answer('password', 'correct horse');
    await isRefused(opened);
  });

  await t.test('by code', async () => {
    bench.control.put(other, { password: null });
    const opened = await asked(bench);
    bench.control.put(opened.phone, { letsIn: other });
    await opened.session.answer('code', bench.control.code(opened.phone));
    await isRefused(opened);
  });

  await t.test('and says where to end it when the network could not be told', async (t) => {
    const opened = bench.open();
    await link(opened, 'qr');
    bench.control.refuse('auth.logOut', 420, 'FLOOD_WAIT_60', 1);
    bench.control.scan(other, (await opened.port.step('show_qr')).data);
    const refused = await opened.port.state('refused');
    t.match(refused, { reason: 'wrong_phone', detail: /list of devices/ });
  });
});

t.test('an account whose number was changed is not connected as the old one', async (t) => {
  const bench = await startBench(t);
  const resumed = await bench.linked();
  resumed.session.close();
  bench.control.put(resumed.phone, { movedTo: phoneNumber(801) });
  const later = await bench.reopened(resumed);
  t.match(await later.port.state('refused'), { reason: 'wrong_phone' });
  t.notOk(later.port.events.some((event) => 'state' in event && event.state === 'connected'));
  t.equal(bench.control.sessions(resumed.phone), 0);
  t.equal(later.port.credentials.values.size, 0);

  const live = await bench.linked();
  bench.control.put(live.phone, { movedTo: phoneNumber(802) });
  t.match(await live.port.state('refused'), { reason: 'wrong_phone' }, 'found out by asking');
  t.equal(bench.control.sessions(live.phone), 0);
});

t.test('a login moves to the data center where the account lives', async (t) => {
  const bench = await startBench(t);
  const byCode = bench.open();
  bench.control.refuse('auth.sendCode', 303, 'PHONE_MIGRATE_4', 1);
  await link(byCode, 'code');
  await byCode.port.next('question', isAskFor('code'));
  await byCode.session.answer('code', bench.control.code(byCode.phone));
  await byCode.port.state('connected');
  const again = await bench.reopened(byCode);
  await again.port.state('connected');

  const byQr = bench.open();
  bench.control.put(byQr.phone, { password: 'correct horse' });
  await link(byQr, 'qr');
  bench.control.scan(byQr.phone, (await byQr.port.step('show_qr')).data, 4);
  await byQr.port.next('question', isAskFor('password'));
  await byQr.session.answer('password', 'correct horse');
  await byQr.port.state('connected');

  const nowhere = bench.open();
  bench.control.refuse('auth.sendCode', 303, 'PHONE_MIGRATE_4', 2);
  await link(nowhere, 'code');
  t.match(await nowhere.port.state('lost'), { reason: 'network_unreachable', detail: /MIGRATE_4/ });
});

t.test('a link that could not be stored is not left on the phone', async (t) => {
  const bench = await startBench(t);
  const opened = await asked(bench);
  opened.port.credentials.fenced = true;
  await opened.session.answer('code', bench.control.code(opened.phone));
  t.match(opened.port.events.at(-1), { state: 'lost', reason: 'driver_failed' });
  t.equal(bench.control.sessions(opened.phone), 0);
});

/** A session whose code is asked for. */
async function asked(bench: Bench, password: string | null = null): Promise<Opened> {
  const opened = bench.open();
  bench.control.put(opened.phone, { password });
  await link(opened, 'code');
  await opened.port.next('question', isAskFor('code'));
  return opened;
}

function isAbout(t: Test, at: number | null, ms: number): void {
  const left = (at ?? 0) - Date.now();
  t.ok(left > ms - 10_000 && left <= ms, `${left} ms are left`);
}
