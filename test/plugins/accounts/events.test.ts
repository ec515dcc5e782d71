import t from 'tap';
import { accountEvent } from '../../../plugins/accounts/events.ts';

t.test('the payload of an account event has the specified fields and no others', async (t) => {
  const account = {
    id: 'acc_1',
    tenantId: 'ten_1',
    channel: 'msgapp_web',
    identifier: '+15550001111',
  };
  const happened = {
    type: 'account.disconnected',
    status: 'disconnected',
    reason: 'removed',
  } as const;
  t.same(accountEvent(account, happened, 1_769_851_800_000), {
    tenantId: 'ten_1',
    type: 'account.disconnected',
    subject: 'acc_1',
    at: 1_769_851_800_000,
    payload: {
      event: 'account.disconnected',
      created_at: '2026-01-31T09:30:00.000Z',
      account_id: 'acc_1',
      channel: 'msgapp_web',
      account: {
        id: 'acc_1',
        channel: 'msgapp_web',
        identifier: '+15550001111',
        status: 'disconnected',
        reason: 'removed',
      },
    },
  });
});
