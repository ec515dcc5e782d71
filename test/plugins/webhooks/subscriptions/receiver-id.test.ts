import { createHash } from 'node:crypto';
import t from 'tap';
import { receiverId } from '../../../../plugins/webhooks/subscriptions/receiver-id.ts';

t.test('subscriptions of one tenant and URL, as it is written, share a receiver', async (t) => {
  const hash = createHash('sha256').update('ten_1\nhttps://a.example/').digest('hex');
  t.equal(receiverId('ten_1', 'https://a.example/'), hash);
  t.not(receiverId('ten_1', 'https://a.example'), hash, 'an address counts as it is written');
});
