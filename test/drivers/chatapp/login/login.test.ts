import { setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import { makeChatappDriver } from '../../../../drivers/chatapp/driver.ts';
import { chatappOptions } from '../../../../drivers/chatapp/options.ts';
import { profileOf } from '../../../../drivers/simulated/profiles.ts';
import { isAskFor } from '../../../../testing/contract/driver/steps.ts';
import { until } from '../../../harness/story.ts';
import { link, startBench } from '../bench.ts';

t.test('options', async (t) => {
  const given = { api_id: 1, api_hash: 'secret hash' };
  await t.rejects(makeChatappDriver({ options: {} }), /my\.telegram\.org.*CHATAPP_API_ID/s);
  t.throws(() => chatappOptions({ api_id: 1, api_hash: null }), /CHATAPP_API_HASH/);
  const wrong: readonly [object, RegExp][] = [
    [{ api_id: 0 }, /api_id/],
    [{ api_id: '1' }, /api_id/],
    [{ api_hash: 7 }, /api_hash/],
    [{ data_center: 'nowhere' }, /data_center/],
    [{ data_center: 'host:0' }, /data_center/],
    [{ data_center: 'host:65536' }, /data_center/],
    [{ server_public_key: 'no key' }, /server_public_key/],
  ];
  for (const [one, message] of wrong) {
    const refused = t.throws(() => chatappOptions({ ...given, ...one }), { message });
    t.notMatch(String(refused), /secret hash/);
  }
  t.same(chatappOptions({ ...given, data_center: '[::1]:443' }).dataCenter, {
    host: '::1',
    port: 443,
  });
  t.same(chatappOptions(given), {
    apiId: 1,
    apiHash: 'secret hash',
    dataCenter: null,
    serverPublicKey: null,
  });
});

t.test('what can be linked and imported is the same in test mode', async (t) => {
  const live = await makeChatappDriver({ options: { api_id: 1, api_hash: 'secret hash' } });
  const { imports, linkMethods, recipients } = profileOf('chatapp').capabilities;
  t.match(live.capabilities, { imports, linkMethods, recipients });
});

t.test('by a code that goes to an e-mail address', async (t) => {
  const bench = await startBench(t);
  const opened = bench.open();
  const { phone, session, port } = opened;
  const label = 'Login code, sent to a***@example.com';
  const newLabel = 'Login code, sent to b***@example.com';
  bench.control.put(phone, { email: 'a***@example.com', password: 'correct horse' });
  await link(opened, 'code');
  t.match(await port.next('question', isAskFor('code')), { step: { label } });
  t.match(await session.answer('code', 'wrong'), { accepted: false, detail: /e-mail/ });
  bench.control.put(phone, { email: 'b***@example.com' });
  bench.control.expireCode(phone);
  t.match(await session.answer('code', '12345'), { accepted: false, detail: /expired/ });
  t.match(await port.next('question', isAskFor('code')), { step: { label: newLabel } });
  bench.control.setReachable(false);
  await port.state('lost');
  bench.control.setReachable(true);
  await link(opened, 'code');
  t.match(await port.next('question', isAskFor('code')), { step: { label: newLabel } }, 'the same');
  t.same(await session.answer('code', bench.control.code(phone)), { accepted: true });
  await port.next('question', isAskFor('password'));
  t.same(await session.answer('password', 'correct horse'), { accepted: true });
  t.match(port.events.at(-1), { state: 'connected' });
});

t.test('by QR code', async (t) => {
  const bench = await startBench(t);
  await t.test('with a password', async (t) => {
    const opened = bench.open();
    bench.control.put(opened.phone, { password: 'correct horse' });
    await link(opened, 'qr');
    const shown = await opened.port.step('show_qr');
    t.equal(shown.data, `tg://login?token=${shown.token}`);
    t.match(await opened.session.answer('password', 'too early'), { accepted: false });
    bench.control.scan(opened.phone, shown.data);
    await opened.port.next('question', isAskFor('password'));
    t.match(
      await opened.session.answer('code', '12345'),
      { accepted: false },
      'no code is awaited',
    );
    t.match(await opened.session.answer('password', 'incorrect'), { accepted: false });
    t.same(await opened.session.answer('password', 'correct horse'), { accepted: true });
    t.match(opened.port.events.at(-1), { state: 'connected' });
  });

  await t.test('the tokens run out by themselves', async (t) => {
    const opened = bench.open();
    bench.control.setTokenMs(1);
    await link(opened, 'qr');
    await opened.port.step('expired');
    const shown = opened.port.events.filter(
      (event) => event.type === 'step' && event.step.type === 'show_qr',
    );
    t.equal(shown.length, 10);
  });
});

t.test('by QR code, with a clock that is off', async (t) => {
  const bench = await startBench(t);
  for (const [clockMs, leastMs, mostMs] of [
    [-40_000, 0, 1_000],
    [600_000, 20_000, 30_000],
  ] as const) {
    const opened = bench.open();
    Object.assign(bench.network, { clockMs, tokensAsked: 0 });
    const before = Date.now();
    await link(opened, 'qr');
    const first = await opened.port.step('show_qr');
    t.ok(first.expiresAt >= before + leastMs, 'it is valid for a while');
    t.ok(first.expiresAt <= Date.now() + mostMs, 'and not longer than a code is');
    await sleep(2_500);
    t.ok(bench.network.tokensAsked <= 4, `${bench.network.tokensAsked} questions`);
    const shown = () =>
      opened.port.events.flatMap((event) =>
        event.type === 'step' && event.step.type === 'show_qr' ? event.step : [],
      );
    const isValid = async () => (shown().at(-1)?.expiresAt ?? 0) > Date.now() || undefined;
    await until('it to be shown as long as it is valid', isValid, 2_000);
    t.equal(new Set(shown().map(({ data }) => data)).size, 1, 'the code that the network keeps');
    bench.control.scan(opened.phone, first.data);
    await opened.port.state('connected');
  }
});
