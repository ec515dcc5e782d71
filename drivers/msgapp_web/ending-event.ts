import type { DriverEvent } from '../../core/contracts/driver.ts';
import type { Ending } from './close-codes.ts';

/** What the gateway is told of the end of a connection. Pure; called by the session. */
export function eventOf(ending: Exclude<Ending, { type: 'restart' }>): DriverEvent {
  switch (ending.type) {
    case 'lost':
      return { type: 'state', state: 'lost', message: ending.message };
    case 'restricted':
      return { type: 'state', state: 'restricted', scope: 'all', until: null };
    case 'logged_out':
      return { type: 'state', state: 'logged_out', reason: ending.reason };
    case 'refused':
      return { type: 'state', state: 'refused', message: ending.message };
    case 'expired':
      return { type: 'step', step: { type: 'expired' } };
  }
}
