import type { DriverEvent } from '../../core/contracts/driver.ts';
import type { Ending } from './close-codes.ts';

/** What the gateway is told of the end of a connection. Pure; called by the session. */
export function eventOf(ending: Exclude<Ending, { type: 'restart' }>): DriverEvent {
  switch (ending.type) {
    case 'lost':
      return {
        type: 'state',
        state: 'lost',
        reason: 'network_unreachable',
        detail: ending.message,
        retryAt: null,
      };
    case 'restricted':
      return {
        type: 'state',
        state: 'restricted',
        scope: 'all',
        until: null,
        reason: 'blocked_by_msgapp',
        detail: 'The network has blocked this account.',
      };
    case 'logged_out':
      return {
        type: 'state',
        state: 'logged_out',
        reason: ending.reason,
        detail: 'The link was ended on the phone or by the network: connect it again.',
      };
    case 'refused':
      return {
        type: 'state',
        state: 'refused',
        reason: 'login_refused',
        detail: ending.message,
        retryAt: null,
      };
    case 'expired':
      return { type: 'step', step: { type: 'expired' } };
  }
}
