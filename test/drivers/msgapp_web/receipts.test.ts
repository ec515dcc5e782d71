import t from 'tap';
import { ackRefusal, lateFailureOf, receiptsOf } from '../../../drivers/msgapp_web/receipts.ts';

t.test('what a receipt tells', async (t) => {
  const own = ['12025550100:4@s.whatsapp.net', '7712025550100@lid'];
  const from = '12025550123@s.whatsapp.net';
  const receipt = (attrs: Record<string, string>, ids: readonly string[] = []) =>
    receiptsOf(
      {
        tag: 'receipt',
        attrs: { id: 'msg_1', from, t: '1700000000', ...attrs },
        content: [
          { tag: 'list', attrs: {}, content: ids.map((id) => ({ tag: 'item', attrs: { id } })) },
        ],
      },
      own,
    );
  t.same(receipt({}), [
    {
      type: 'receipt',
      reference: 'msg_1',
      networkId: 'msg_1',
      status: 'delivered',
      error: null,
      at: 1_700_000_000_000,
    },
  ]);
  t.match(receipt({ type: 'read' }, ['msg_2', 'msg_3']), [
    { reference: 'msg_1', status: 'read' },
    { reference: 'msg_2', status: 'read' },
    { reference: 'msg_3', status: 'read' },
  ]);
  for (const type of ['retry', 'sender', 'read-self', 'peer_msg', 'server-error']) {
    t.same(receipt({ type }), [], type);
  }
  t.same(receipt({ from: '12025550100:2@s.whatsapp.net' }), [], 'our own phone');
  t.same(receipt({ from: '7712025550100:2@lid' }), [], 'our own phone, by its other address');
  t.same(receipt({ from: '123-456@g.us', participant: from }), [], 'a group');
  const ack = (attrs: Record<string, string>) => lateFailureOf({ tag: 'ack', attrs });
  t.equal(ack({ id: 'msg_1' }), null);
  t.match(ack({ id: 'msg_1', error: '479' }), {
    status: 'failed',
    error: /^refused_by_network: .*479/,
  });
  for (const from of ['12025550123:2@s.whatsapp.net', '7712025550100:2@lid']) {
    t.equal(ack({ id: 'msg_1', error: '479', from }), null, 'one device, which had asked again');
  }
  t.equal(ackRefusal('463').code, 'restricted_new_contacts');
  t.equal(ackRefusal('475').code, 'new_contact_quota');
});
