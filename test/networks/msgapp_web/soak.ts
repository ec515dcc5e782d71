import { DriverError } from '../../../core/contracts/driver.ts';
import { makeMsgappWebDriver } from '../../../drivers/msgapp_web/driver.ts';
import { LogLines } from '../../../testing/contract/driver/log-lines.ts';
import { MemoryPort } from '../../../testing/contract/driver.ts';
import { phoneNumber } from '../../harness/story.ts';
import { controlOf } from './control.ts';

/**
 * Sends and receives many messages through one account: how many of each, where the network is, where it is played
 * and its root key. Prints the bytes in use after a tenth of them and after all, as JSON. Run with `--expose-gc`.
 */
const [count, url = '', control = '', key = ''] = process.argv.slice(2);
const network = controlOf(control);
const [phone, contact] = [phoneNumber(1), phoneNumber(9001)];
const options = { websocket_url: url, root_public_key: key };
const account = { id: 'acc_1', tenantId: 'ten_1', channel: 'msgapp_web', identifier: phone };
const port = new MemoryPort(new LogLines());
const session = makeMsgappWebDriver({ options }).open(account, port);
await session.link({ method: 'qr', importContacts: false, importHistory: false });
await network.scan(phone, (await port.step('show_qr')).data);
await port.state('connected');

let received = 0;
let arrived: () => void = () => undefined;
let connected: () => void = () => undefined;
port.onEmit = async (event) => {
  const { type } = event;
  if (type === 'state' && event.state === 'connected') connected();
  // A gateway keeps none of this in memory.
  port.events.length = 0;
  port.credentials.written.length = 0;
  if (type !== 'message') return;
  received += 1;
  arrived();
};

async function exchange(number: number): Promise<void> {
  const text = `message ${number} ${'x'.repeat(1_000)}`;
  const to = { phone: contact, networkId: null };
  const message = { reference: `msg_soak_${number}`, attempt: 1, to, text, media: null };
  const come = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  await network.write(phone, { from: contact, name: 'Ada', text });
  await session.send(message, AbortSignal.timeout(60_000)).catch(async (error: unknown) => {
    if (!(error instanceof DriverError) || error.retryAfterMs === null) throw error;
    // As the gateway does when a connection breaks.
    const again = new Promise<void>((resolve) => {
      connected = resolve;
    });
    await session.resume();
    await again;
    await session.send({ ...message, attempt: 2 }, AbortSignal.timeout(60_000));
  });
  if (received <= number) await come;
}

function used(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

const total = Number(count);
let early = 0;
for (let number = 0; number < total; number += 1) {
  await exchange(number);
  if (number + 1 === Math.ceil(total / 10)) early = used();
}
console.log(JSON.stringify({ early, late: used(), received }));
process.exit(0);
