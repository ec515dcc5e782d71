import t from 'tap';
import type { AnyOperation } from '../../../core/operation.ts';
import { isAudited, targetOf } from '../../../plugins/api/auditing.ts';

const id = (prefix: string) => `${prefix}_01jxk5d8a0c1v7m2q3r4s5t6w7`;

t.test('what is recorded: whatever changes something but messages and the sandbox', async (t) => {
  const of = (method: string, group: string, name = 'op') =>
    isAudited({ id: name, method, group } as AnyOperation);
  t.notOk(of('GET', 'contacts'));
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) t.ok(of(method, 'webhooks'), method);
  t.notOk(of('POST', 'sandbox'));
  t.notOk(of('POST', 'messages', 'send_message'));
});

t.test('the target is an id, and never a whole phone number', async (t) => {
  t.equal(targetOf({}, { webhook: { id: id('wh') }, success: true }), id('wh'));
  t.equal(targetOf({ webhookId: 'news' }, { webhook_id: id('wh') }), id('wh'), 'not its name');
  t.equal(targetOf({ phoneNumber: '+12025550111' }, { account_id: id('acc') }), id('acc'));
  t.equal(targetOf({ id: id('con') }, null), id('con'));
  t.equal(targetOf({ channel: 'chatapp', identifier: '+12025550111' }, {}), '…0111');
  t.equal(targetOf({ webhookId: id('wh'), deliveryId: id('dlv') }, {}), id('wh'));
  t.equal(targetOf(null, { status: 'done' }), null);
});
