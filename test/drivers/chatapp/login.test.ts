import t from 'tap';
import { DriverError } from '../../../core/contracts/driver.ts';
import { makeChatappDriver } from '../../../drivers/chatapp/driver.ts';
import { chatappOptions } from '../../../drivers/chatapp/options.ts';
import { isAskFor } from '../../contract/driver/bench.ts';
import { phoneNumber } from '../../harness/story.ts';
import { link, startBench } from './bench.ts';

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

t.test('what the network refuses is refused', async (t) => {
  const bench = await startBench(t);
  const nobody = bench.open(phoneNumber(500));
  await link(nobody, 'code');
  t.match(await nobody.port.state('refused'), { message: /PHONE_NUMBER_INVALID/ });
  await t.rejects(nobody.session.answer('code', '1'), DriverError, 'the login is over');
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

  await t.test('scanned by the owner of another number', async (t) => {
    const opened = bench.open();
    bench.control.put(phoneNumber(800), {});
    await link(opened, 'qr');
    bench.control.scan(phoneNumber(800), (await opened.port.step('show_qr')).data);
    t.match(await opened.port.state('refused'), { message: /another number/ });
    t.equal(opened.port.credentials.values.size, 0, 'nothing is kept of it');
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
