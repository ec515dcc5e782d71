import t from 'tap';
import { signature } from '../../plugins/webhooks/signature.ts';
import { InvalidWebhook, verifyWebhook } from '../../public/client.ts';

const body = JSON.stringify({ event: 'message.received', message: { text: 'Grüße' } });
const timestamp = 1_750_000_000;
const now = timestamp * 1000 + 60_000;
const headers = {
  'X-Webhook-Timestamp': String(timestamp),
  'X-Webhook-Signature': signature('whsec_one', timestamp, body),
};

t.test('a genuine delivery answers its body', async (t) => {
  const verified = await verifyWebhook('whsec_one', headers, body, { now });
  t.same(verified, JSON.parse(body));
  const bytes = new TextEncoder().encode(body);
  t.same(await verifyWebhook(['two', 'whsec_one'], new Headers(headers), bytes, { now }), verified);
});

t.test('anything else is refused', async (t) => {
  const refused = (secret: string, changed: object, text = body, at = now) =>
    t.rejects(verifyWebhook(secret, { ...headers, ...changed }, text, { now: at }), InvalidWebhook);
  await refused('whsec_two', {});
  await refused('whsec_one', {}, `${body} `);
  await refused('whsec_one', {}, body, now + 300_000);
  await refused('whsec_one', {}, body, now - 400_000);
  await refused('whsec_one', { 'X-Webhook-Timestamp': String(timestamp + 1) });
  await refused('whsec_one', { 'X-Webhook-Timestamp': 'now' });
  await refused('whsec_one', { 'X-Webhook-Timestamp': undefined });
  await refused('whsec_one', { 'X-Webhook-Signature': undefined });
  await refused('whsec_one', { 'X-Webhook-Signature': 'v1=' });
  await refused('whsec_one', { 'X-Webhook-Signature': headers['X-Webhook-Signature'].slice(3) });
});
