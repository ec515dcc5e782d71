import t from 'tap';
import { GatewayError } from '../../../../core/errors.ts';
import {
  type Change,
  type ChangeBasis,
  decideChange,
} from '../../../../plugins/webhooks/subscriptions/change.ts';
import { receiverId } from '../../../../plugins/webhooks/subscriptions/receiver-id.ts';
import { webhook as example } from '../examples.ts';

t.test('a change is refused above the limit and for a name that is taken', async (t) => {
  const now = Date.UTC(2026, 0, 31, 9, 30, 0, 7);
  const webhook = { ...example, name: 'one', receiverId: receiverId('ten_1', example.url) };
  const other = { ...webhook, id: 'wh_2', name: 'two' };
  const webhooks = new Map([webhook, other].map((one) => [one.id, one]));
  const basis = { tenantId: 'ten_1', id: 'wh_1', webhooks, most: 2, now };
  const fresh = { ...webhook, name: null };
  const create = { kind: 'create', webhook: fresh } as const;
  const isRefused = (change: Change, changed: Partial<ChangeBasis>) =>
    decideChange(change, { ...basis, ...changed }) instanceof GatewayError;
  t.ok(isRefused(create, { id: 'wh_3' }), 'one too many');
  t.notOk(isRefused(create, { id: 'wh_3', most: 3 }));
  t.match(decideChange(create, basis), { webhook: { name: 'one' } }, 'a repeat makes nothing');
  t.equal(decideChange({ kind: 'reenable' }, { ...basis, id: 'wh_3' }), null);
  const rename = { kind: 'update', changes: { name: 'two' } } as const;
  t.ok(isRefused(rename, {}));
  t.notOk(isRefused(rename, { id: 'wh_2' }), 'its own name');
  const sign = (sealedSecret: string | null) => decideChange({ kind: 'sign', sealedSecret }, basis);
  t.match(sign('sealed'), { webhook: { sealedSecret: 'sealed', secretCreatedAt: now } });
  t.match(sign(null), { webhook: { sealedSecret: null, secretCreatedAt: null } });
});
