import { details } from '../../../plugins/accounts/reasons.ts';
import { bodyOf, phoneNumber, sendAccepted, until } from '../../harness/story.ts';
import type { Row } from './row.ts';
import { connectSaying, handIn } from './said.ts';
import { linked } from './simulated.ts';

const chatapp = '/channels/chatapp/connect';
const msgapp = '/channels/msgapp-web/connections';

/** Every reason that the gateway gives itself. */
export const ownReasons: readonly Row[] = [
  {
    name: 'the fifth wrong code',
    reason: 'login_refused',
    detail: 'The network did not take the code 5 times: connect again.',
    shown: 'error',
    stored: 'disconnected',
    async provoke({ test: api }) {
      const phone = phoneNumber(51);
      const { account_id: accountId } = bodyOf<{ account_id: string }>(
        await api.post(chatapp, { phone_number: phone }),
      );
      for (let n = 0; n < 5; n += 1) {
        await api.post(`${chatapp}/${phone}/verify-code`, { code: `wrong ${n}` });
      }
      return { api, channel: 'chatapp', accountId, status: `${chatapp}/${phone}/status` };
    },
  },
  {
    name: 'a linking that nobody finishes',
    reason: 'pairing_timeout',
    detail: details.pairing_timeout,
    shown: 'disconnected',
    stored: 'disconnected',
    async provoke({ test: api }) {
      const phone = phoneNumber(52);
      const { account_id: accountId } = bodyOf<{ account_id: string }>(
        await api.post(msgapp, { phone_number: phone }),
      );
      return { api, channel: 'msgapp_web', accountId, status: `${msgapp}/${phone}/status` };
    },
  },
  {
    name: 'a removed account',
    reason: 'removed',
    detail: details.removed,
    shown: null,
    stored: 'disconnected',
    async provoke({ test }) {
      const provoked = await linked(test, 'msgapp', phoneNumber(53));
      await test.delete(`${msgapp}/${phoneNumber(53)}`);
      return provoked;
    },
  },
  {
    name: 'too many first messages',
    reason: 'safety_limits',
    detail: /^Too many first messages were refused: nothing is sent before 20\d\d-.*Z\.$/,
    shown: 'restricted',
    stored: 'restricted',
    async provoke({ test }) {
      const provoked = await linked(test, 'msgapp', phoneNumber(54));
      const { accountId: account_id } = provoked;
      await sendAccepted(test, { account_id, to: { phone: phoneNumber(541) } });
      await until('openers to be refused', async () => {
        const to = { phone: phoneNumber(542) };
        const { status } = await test.post('/messages', { account_id, to, text: 'Hello' });
        return status === 409 ? true : undefined;
      });
      return provoked;
    },
  },
  {
    name: 'a number that another tenant has linked first',
    reason: 'conflict',
    detail: details.claimed_elsewhere,
    shown: 'disconnected',
    stored: 'disconnected',
    async provoke({ live, other }) {
      const identifier = 'asks@home';
      const provoked = await connectSaying(live, identifier);
      await connectSaying(other, identifier);
      for (const api of [other, live]) await handIn(api, identifier);
      return provoked;
    },
  },
  {
    name: 'a driver that breaks its contract',
    reason: 'driver_failed',
    detail: details.driver_failed,
    shown: 'connecting',
    stored: 'connecting',
    provoke: ({ live }) => connectSaying(live, 'throws@home'),
  },
];
