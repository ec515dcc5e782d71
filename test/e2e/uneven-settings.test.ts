import t from 'tap';
import { runGateway } from '../harness/gateway.ts';
import { header, startReceiver } from '../harness/receiver.ts';
import { connected, pair, phoneNumber, until } from '../harness/story.ts';

/** None of these is a whole number of milliseconds. */
const settings = {
  GATEWAY_SESSIONS__REQUEST_TIMEOUT_S: '22.00007',
  GATEWAY_WEBHOOKS__RETRY_DELAYS_S: '[0.33333, 0.33333]',
  GATEWAY_WEBHOOKS__PREVIOUS_SECRET_H: '0.3333333',
};

t.test('times that have parts of a millisecond', async (t) => {
  const { api } = await runGateway(t, { databaseUrl: null, settings });
  const receiver = await startReceiver(t, (one) =>
    header(one, 'x-webhook-attempt') === '3' ? 204 : 500,
  );
  const webhook = {
    ...{ name: 'desk', url: receiver.url('/desk'), subscribed_to: ['account.connected'] },
    ...{ retries_enabled: true, generate_signing_secret: true },
  };
  t.equal((await api.post('/webhooks', webhook)).status, 201);
  const rotated = await api.post('/webhooks/desk/signing-secret');
  t.equal(rotated.status, 200, 'a secret is followed by another');
  const phone = phoneNumber(1);
  await pair(api, phone);
  await connected(api, phone);
  t.pass('an account is linked');
  await until('the third attempt', async () =>
    receiver.at('/desk').length === 3 ? true : undefined,
  );
  t.pass('a delivery is repeated');
});
