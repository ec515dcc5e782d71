import { createHmac } from 'node:crypto';
import t from 'tap';
import { signature } from '../../../plugins/webhooks/signature.ts';
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
