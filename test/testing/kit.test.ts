import t from 'tap';
import { runDriver } from '../../testing/kit/driver-harness.ts';
import { startSimulatedNetwork } from '../../testing/kit/simulated-network.ts';
import { phoneNumber } from '../harness/story.ts';

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
