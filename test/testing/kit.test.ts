import { rm } from 'node:fs/promises';
import t from 'tap';
import type { DriverEvent } from '../../core/contracts/driver.ts';
import { runDriver } from '../../testing/kit/driver-harness.ts';
import { startGateway } from '../../testing/kit/gateway.ts';
import { startSimulatedNetwork } from '../../testing/kit/simulated-network.ts';
import { startProcess } from '../harness/processes.ts';
import { phoneNumber, until } from '../harness/story.ts';

const network = await startSimulatedNetwork();
t.teardown(() => network.stop());
const [number, contact] = [phoneNumber(1), phoneNumber(9000)];

t.test('two harnesses on one network send messages of their own', async (t) => {
  const phone = network.phone({ phone: number, channel: 'msgapp_web' });
  for (const text of ['of the first', 'of the second']) {
    const harness = await runDriver(network.driver('msgapp_web'));
    const account = harness.open(number);
    await account.link();
    await phone.scan();
    await account.state('connected');
    await account.send(contact, text);
    await harness.close();
  }
  t.match(await phone.outbox(), [
    { text: 'of the first', attempts: 1 },
    { text: 'of the second', attempts: 1 },
  ]);
});

t.test(
  'an account that resumes answers what came of it, and not of the connection before',
  async (t) => {
    const phone = network.phone({ phone: phoneNumber(3), channel: 'msgapp_web' });
    const harness = await runDriver(network.driver('msgapp_web'));
    t.teardown(() => harness.close());
    const account = harness.open(phoneNumber(3));
    await account.link();
    await phone.scan();
    await account.state('connected');
    await phone.befall('drop');
    await until('the loss', async () => (isLost(account.events.at(-1)) ? true : undefined));
    t.match(await account.resume(), { type: 'state', state: 'connected' });
    await phone.befall('drop');
    await until('the loss', async () => (isLost(account.events.at(-1)) ? true : undefined));
    t.match(await account.link(), { type: 'show_qr' });
  },
);

t.test('a phone has a number that can be one', async (t) => {
  for (const phone of [number.slice(1), '', 'Ada']) {
    const made = () => network.phone({ phone, channel: 'msgapp_web' });
    t.throws(made, { message: `"${phone}" is not a phone number in E.164 format` });
  }
});

t.test('what does not show on a phone says where it was waited for, and why', async (t) => {
  const phone = network.phone({ phone: phoneNumber(2), channel: 'msgapp-web' });
  const place = `${phoneNumber(2)} of msgapp-web, network ten_harness, within 1 ms`;
  await t.rejects(phone.scan(1), { message: `nothing to scan on ${place}: unknown_phone` });
  await t.rejects(phone.loginCode(1), { message: `no login code on ${place}: unknown_phone` });
  await phone.set({});
  await t.rejects(phone.scan(1), { message: `nothing to scan on ${place}: nothing_to_scan` });
  await t.rejects(phone.loginCode(1), { message: `no login code on ${place}` });
});

t.test('a gateway has the keys that its settings name', async (t) => {
  const keys = ['test', 'live'].map((mode) => `gw_${mode}_${'A'.repeat(43)}`);
  const [TEST_API_KEY = '', LIVE_API_KEY = ''] = keys;
  const gateway = await startGateway({ settings: { TEST_API_KEY, LIVE_API_KEY } });
  t.teardown(() => gateway.stop());
  t.same([gateway.key, gateway.liveKey], keys);
  for (const key of keys) {
    const answer = await fetch(`${gateway.baseUrl}/me`, { headers: { 'X-API-Key': key } });
    t.equal(answer.status, 200);
  }
});

t.test('a gateway ends with its test, however that ends', async (t) => {
  const owner = startProcess(t, ['test/testing/gateway-owner.ts']);
  const [, baseUrl = '', dataDir = ''] = await owner.waitFor(/^started (\S+) in (.+)$/m, 60_000);
  t.teardown(() => rm(dataDir, { recursive: true, force: true }));
  const answers = () => fetch(baseUrl).then(Boolean, () => false);
  t.ok(await answers(), 'it runs while its test does');
  await owner.kill('SIGKILL');
  await until('the end of the gateway', async () => ((await answers()) ? undefined : true));
});

function isLost(event: DriverEvent | undefined): boolean {
  return event?.type === 'state' && event.state === 'lost';
}
