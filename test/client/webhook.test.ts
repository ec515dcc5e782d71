import t from 'tap';
import { standardSignature } from '../../plugins/webhooks/signature.ts';
import { InvalidWebhook, verifyWebhook } from '../../public/client.ts';

const body = JSON.stringify({ event: 'message.received', message: { text: 'Grüße' } });
const timestamp = 1_750_000_000;
const now = timestamp * 1000 + 60_000;
const [one, two, three] = [1, 2, 3].map((n) => `whsec_${Buffer.alloc(32, n).toString('base64')}`);
const signed = (current = '', previous: string | null = null) => ({
  'Webhook-Id': 'del_1',
  'Webhook-Timestamp': String(timestamp),
  'Webhook-Signature': standardSignature({ current, previous }, 'del_1', timestamp, body),
});

t.test('a genuine delivery answers its body', async (t) => {
  const expected = JSON.parse(body);
  t.same(await verifyWebhook(`${one}`, signed(one), body, { now }), expected);
  const bytes = new TextEncoder().encode(body);
  t.same(await verifyWebhook(`${one}`, new Headers(signed(one)), bytes, { now }), expected);
  for (const secret of [one, two]) {
    t.same(await verifyWebhook(`${secret}`, signed(two, one), body, { now }), expected, 'rotated');
  }
  const old = `whsec_${Buffer.alloc(32, 251).toString('base64url')}`;
  t.same(await verifyWebhook(old, signed(old), body, { now }), expected, 'a secret in base64url');
});

t.test('anything else is refused', async (t) => {
  const refused = (changed: object, secret = one, text = body, at = now) =>
    t.rejects(
      verifyWebhook(`${secret}`, { ...signed(one, two), ...changed }, text, { now: at }),
      InvalidWebhook,
    );
  await refused({}, three);
  await refused({}, one, `${body} `);
  await refused({}, one, body, now + 300_000);
  await refused({}, one, body, now - 400_000);
  await refused({ 'Webhook-Id': 'del_2' });
  await refused({ 'Webhook-Id': undefined });
  await refused({ 'Webhook-Timestamp': String(timestamp + 1) });
  await refused({ 'Webhook-Timestamp': 'now' });
  await refused({ 'Webhook-Timestamp': undefined });
  await refused({ 'Webhook-Signature': undefined });
  await refused({ 'Webhook-Signature': 'v1,' });
  await refused({ 'Webhook-Signature': 'v1,%' });
  await refused({ 'Webhook-Signature': signed(one)['Webhook-Signature'].replace('v1,', 'v2,') });
  await t.rejects(verifyWebhook('secret', signed(one), body, { now }), TypeError);
});
