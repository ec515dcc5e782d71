import type { DriverEvent } from '../../core/contracts/driver.ts';
import type { LastEnding } from './close-codes.ts';

/** The state event for the end of a connection. Pure; called by the session. */
export function endingEventOf(ending: LastEnding): DriverEvent {
  if (ending.type === 'expired') return { type: 'step', step: { type: 'expired' } };
  const { detail } = ending;
  switch (ending.type) {
    case 'lost':
      return { type: 'state', state: 'lost', reason: ending.reason, detail, retryAt: null };
    case 'refused':
      return { type: 'state', state: 'refused', reason: ending.reason, detail, retryAt: null };
    case 'logged_out':
      return { type: 'state', state: 'logged_out', reason: ending.reason, detail };
    case 'restricted':
      return {
        type: 'state',
        state: 'restricted',
        scope: 'all',
        until: null,
        reason: ending.reason,
        detail,
      };
  }
}
