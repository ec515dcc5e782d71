import t from 'tap';
import type { StateEvent } from '../../../../core/contracts/driver.ts';
import { triggerOf } from '../../../../plugins/accounts/session/trigger.ts';

t.test('what a state of the session means for the account', async (t) => {
  const state = { type: 'state', detail: 'Why.' } as const;
  const restricted = { reason: 'blocked_by_chatapp', scope: 'all', until: 5 } as const;
  const said: StateEvent[] = [
    { ...state, state: 'lost', reason: 'rate_limited', retryAt: 5 },
    { ...state, state: 'refused', reason: 'wrong_phone', retryAt: 6 },
    { ...state, state: 'restricted', ...restricted },
    { ...state, state: 'logged_out', reason: 'replaced' },
  ];
  for (const event of said) {
    const { type: _, state, ...facts } = event;
    t.same(triggerOf(event), { type: state, ...facts }, 'nothing is dropped or renamed');
  }
});
