// From nothing to a read message, in test mode: links a simulated phone, sends a message, waits until it was read.
//   KEY=gw_test_… node examples/first-message.mjs
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayClient } from 'messaging-gateway/client';

const client = new GatewayClient({
  baseUrl: process.env.BASE ?? 'http://127.0.0.1:3000/v1',
  apiKey: process.env.KEY ?? '',
});
const phone = '+12025550111';

/** Asks again until the answer is as wanted, for 30 seconds at most. */
async function until(wanted, ask) {
  for (let tries = 0; tries < 150; tries += 1) {
    const answer = await ask().catch((error) => error);
    if (wanted(answer)) return answer;
    await sleep(200);
  }
  throw new Error('it took more than 30 seconds');
}

// `force_new` links a number anew that is connected already, so that this program can run again.
const { account_id } = await client.call('connect_msgapp', {
  body: { phone_number: phone, force_new: true },
});

// The owner of a real phone scans the QR code of `get_msgapp_qr`; a simulated one does so when it is told.
await until(
  (answer) => !(answer instanceof Error),
  () => client.call('scan_with_simulated_phone', { path: { phone } }),
);
await until(
  ({ status }) => status === 'connected',
  () => client.call('get_msgapp_status', { path: { phoneNumber: phone } }),
);
console.log(phone, 'is connected');

// With one account connected, `account_id` may be left out.
const to = { phone: '+12025550199' };
const { id } = await client.send({ account_id, to, text: 'Hello!' });
const message = await until(
  ({ status }) => status === 'read',
  () => client.call('get_message', { path: { id } }),
);
console.log('read at', message.read_at);
