import t from 'tap';
import { goesOut, mayUseWebhooks, wants } from '../../../plugins/webhooks/matching.ts';
import { untouched, webhook } from './examples.ts';

const tenant = { id: 'ten_1', plan: 'p', disabled: [] as string[] };

t.test('a subscription gets events of its types, raised since it was made', async (t) => {
  const event = {
    id: 'evt_1',
    tenantId: 'ten_1',
    type: 'message.sent',
    subject: 'msg_1',
    createdAt: 100,
    payload: '{"event":"message.sent","account_id":"acc_1","channel":"msgapp_web"}',
  } as const;
  const ofTenant = { ...event, payload: '{"account_id":null,"channel":null}' };
  const filtered = (accountIds: string[] | null, channels: string[] | null) => ({
    ...webhook,
    accountIds,
    channels,
  });
  for (const [what, expected, hook, owner, raised] of [
    ['its type', true, webhook, tenant, event],
    ['another type', false, webhook, tenant, { ...event, type: 'message.read' as const }],
    ["another tenant's", false, webhook, tenant, { ...event, tenantId: 'ten_2' }],
    ['raised before it was made', false, webhook, tenant, { ...event, createdAt: 99 }],
    ['a type that is off', false, webhook, { ...tenant, disabled: ['event:message.sent'] }, event],
    ['its account', true, filtered(['acc_0', 'acc_1'], null), tenant, event],
    ['another account', false, filtered(['acc_0'], null), tenant, event],
    ['its channel', true, filtered(null, ['msgapp_web']), tenant, event],
    ['another channel', false, filtered(null, ['chatapp']), tenant, event],
    ['its account, another channel', false, filtered(['acc_1'], ['chatapp']), tenant, event],
    ['of no account', true, filtered(['acc_0'], ['chatapp']), tenant, ofTenant],
    ['switched off', true, { ...webhook, enabled: false }, tenant, event],
  ] as const) {
    t.equal(wants(hook, owner, raised, 100), expected, what);
  }
  const ahead = { ...webhook, createdAt: 3_600_000 };
  t.equal(wants(ahead, tenant, event, 101), true, 'made before a clock was set back');
  const justMade = { ...webhook, createdAt: 105 };
  t.equal(wants(justMade, tenant, event, 104), false, 'made while the event was fanned out');
});

t.test('webhooks are for tenants whose plan has them, unless switched off', async (t) => {
  const plan = (webhooks: boolean) => ({
    plan: () => ({ ...caps, webhooks }),
    names: () => ['p'],
  });
  const caps = { sends_cap: 1, new_contacts_cap: 1, accounts_cap: 1, channels: true, ramp_days: 0 };
  t.equal(mayUseWebhooks(tenant, plan(true)), true);
  t.equal(mayUseWebhooks(tenant, plan(false)), false);
  t.equal(mayUseWebhooks({ ...tenant, disabled: ['webhooks'] }, plan(true)), false);
  t.equal(mayUseWebhooks(undefined, plan(true)), false);
});

t.test(
  'nothing goes out while the subscription is off, its URL paused or webhooks not allowed',
  async (t) => {
    t.equal(goesOut(webhook, untouched, true), true);
    t.equal(goesOut(webhook, undefined, true), true);
    t.equal(goesOut(webhook, untouched, false), false);
    t.equal(goesOut({ enabled: false }, untouched, true), false);
    t.equal(goesOut(webhook, { disabledAt: 1 }, true), false);
  },
);
