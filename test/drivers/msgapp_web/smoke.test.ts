import t from 'tap';
import { startProcess, type Teardown } from '../../harness/processes.ts';
import { phoneNumber } from '../../harness/story.ts';
import { startNetwork } from '../../networks/msgapp_web/process.ts';

const { network, settings } = await startNetwork(t);
const [phone, contact, absent] = [phoneNumber(1), phoneNumber(9001), phoneNumber(9002)];

/** The script, linking by pairing code. */
function smoke(t: Teardown, ...more: string[]) {
  const flags = ['--phone', phone, '--method', 'pairing_code', '--seconds', '1', ...more];
  return startProcess(t, ['drivers/msgapp_web/smoke.ts', ...flags], settings);
}

async function codeOf(script: ReturnType<typeof smoke>): Promise<string> {
  const [, code = ''] = await script.waitFor(/type this code on the phone: (\w+)/);
  return code;
}

t.test('the smoke script links, sends one text as the gateway would, and unlinks', async (t) => {
  const script = smoke(t, '--to', contact, '--text', 'hello');
  await network.typeCode(phone, await codeOf(script));
  t.match(await script.exit, { code: 0 }, script.output);
  t.match(script.output, /unlinked/);
  const [shown] = await network.shown(phone);
  t.match(shown, { networkId: /^msg_[0-9a-z]{26}$/, text: 'hello' });
});

t.test('the smoke script says why it gives up', async (t) => {
  const refused = smoke(t);
  await codeOf(refused);
  await network.refuseLogins();
  t.match(await refused.exit, { code: 1 });
  t.match(refused.output, /^login_refused: .*connect again.*\.$/m);

  const expired = smoke(t);
  await codeOf(expired);
  await network.offerCodes(0);
  t.match(await expired.exit, { code: 1 });
  t.match(expired.output, /^The last code ran out before it was used\.$/m);

  const lost = smoke(t, '--seconds', '60');
  await network.typeCode(phone, await codeOf(lost));
  await lost.waitFor(/"connected"/);
  await network.drop(phone);
  t.match(await lost.exit, { code: 1 });
  t.match(lost.output, /^network_unreachable: The network .*\.$/m);

  await network.remove(absent);
  const unsent = smoke(t, '--to', absent);
  await network.typeCode(phone, await codeOf(unsent));
  t.match(await unsent.exit, { code: 1 });
  t.match(unsent.output, /^The text was not sent: not_on_network: /m);
});
