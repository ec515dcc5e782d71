import { createHmac } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import t from 'tap';
import { signature, standardSignature } from '../../../plugins/webhooks/signature.ts';
import { newSigningSecret } from '../../../plugins/webhooks/subscriptions/secret.ts';
import { body, secret } from './examples.ts';

t.test(
  'a receiver can check the signature with the whole secret, the timestamp and the body',
  async (t) => {
    // printf '%s' "1767225600.BODY" | openssl dgst -sha256 -hmac SECRET
    const expected = 'v1=91c30fc27c5dc027d6d9136c85c1b9888295aa1f55bc632c390a9af7536a14cb';
    t.equal(signature(secret, 1_767_225_600, body), expected);
    const bytes = Buffer.concat([Buffer.from('1767225600.'), Buffer.from(body)]);
    t.equal(`v1=${createHmac('sha256', secret).update(bytes).digest('hex')}`, expected);
    t.not(signature(secret, 1_767_225_601, body), expected);
    t.not(signature(`${secret}x`, 1_767_225_600, body), expected);
  },
);

t.test('the libraries of Standard Webhooks verify the other signature', async (t) => {
  const timestamp = Math.floor(Date.now() / 1_000);
  const former = newSigningSecret();
  const secrets = { current: secret, previous: former };
  const value = standardSignature(secrets, 'dlv_1', timestamp, body);
  t.match(value, /^v1,[\w+/]{43}= v1,[\w+/]{43}=$/);
  const headers = {
    'webhook-id': 'dlv_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': value,
  };
  for (const library of [StandardWebhook, SvixWebhook]) {
    for (const known of [secret, former]) {
      t.same(new library(known).verify(body, headers), JSON.parse(body));
      t.throws(() => new library(known).verify(`${body} `, headers));
      t.throws(() => new library(known).verify(body, { ...headers, 'webhook-id': 'dlv_2' }));
    }
    t.throws(() => new library(newSigningSecret()).verify(body, headers));
  }
  const older = { current: 'whsec_-_-_-_-_', previous: null };
  const signed = standardSignature(older, 'dlv_1', timestamp, body);
  const known = new StandardWebhook('whsec_+/+/+/+/');
  t.ok(known.verify(body, { ...headers, 'webhook-signature': signed }), 'a secret in base64url');
});
