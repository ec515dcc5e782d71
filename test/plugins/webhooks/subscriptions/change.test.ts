import t from 'tap';
import { GatewayError } from '../../../../core/errors.ts';
import {
  type Change,
  type ChangeBasis,
  decideChange,
} from '../../../../plugins/webhooks/subscriptions/change.ts';
import { receiverId } from '../../../../plugins/webhooks/subscriptions/receiver-id.ts';
import { signingSecretsOf } from '../../../../plugins/webhooks/subscriptions/secret.ts';
import type { Webhook } from '../../../../plugins/webhooks/tables/webhook-rows.ts';
import { webhook as example } from '../examples.ts';

t.test('a change is refused above the limit and for a name that is taken', async (t) => {
  const now = Date.UTC(2026, 0, 31, 9, 30, 0, 7);
  const webhook = { ...example, name: 'one', receiverId: receiverId('ten_1', example.url) };
  const other = { ...webhook, id: 'wh_2', name: 'two' };
  const webhooks = new Map([webhook, other].map((one) => [one.id, one]));
  const basis = { tenantId: 'ten_1', id: 'wh_1', webhooks, most: 2, now, previousSecretMs: 1_000 };
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
});

t.test('the secret before signs on for a while after a rotation, and for no longer', async (t) => {
  const sign = (before: Webhook, sealedSecret: string | null, now: number): Webhook => {
    const webhooks = new Map([[before.id, before]]);
    const basis = { tenantId: 'ten_1', id: 'wh_1', webhooks, most: 2, now, previousSecretMs: 500 };
    const decided = decideChange({ kind: 'sign', sealedSecret }, basis);
    if (decided === null || decided instanceof GatewayError) throw new Error('refused');
    return decided.webhook;
  };
  const opened = (webhook: Webhook, now: number) =>
    signingSecretsOf(webhook, now, (sealed) => `opened ${sealed}`);
  const first = sign(example, 'one', 1_000);
  t.match(first, { sealedSecret: 'one', secretCreatedAt: 1_000, previousSecret: null });
  t.same(opened(first, 1_000), { current: 'opened one', previous: null });
  const second = sign(first, 'two', 2_000);
  t.match(second, { secretCreatedAt: 2_000, previousSecret: { sealed: 'one', until: 2_500 } });
  t.same(opened(second, 2_499), { current: 'opened two', previous: 'opened one' });
  t.same(opened(second, 2_500), { current: 'opened two', previous: null });
  const without = (lost: string) => (sealed: string) => {
    if (sealed === lost) throw new Error('its key is not configured');
    return sealed;
  };
  const since = signingSecretsOf(second, 2_499, without('one'));
  t.same(since, { current: 'two', previous: null }, 'one that nothing opens counts as none');
  t.throws(() => signingSecretsOf(second, 2_499, without('two')), 'not so the current one');
  t.same(sign(second, 'two', 2_100), second, 'a repeat does not forget the one before');
  const third = sign(second, 'three', 2_200);
  t.same(opened(third, 2_200), { current: 'opened three', previous: 'opened two' });
  const off = sign(third, null, 2_300);
  t.match(off, { sealedSecret: null, secretCreatedAt: null, previousSecret: null });
  t.equal(opened(off, 2_300), null);
  t.same(opened(sign(off, 'four', 2_400), 2_400), { current: 'opened four', previous: null });
});
