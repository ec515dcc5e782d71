import type { StateEvent } from '../../../core/contracts/driver.ts';
import type { Happening } from '../status.ts';

/** What a state of the session means for the account. Pure. */
export function happeningOf(event: StateEvent): Happening {
  switch (event.state) {
    case 'restricted':
      return {
        type: 'restricted',
        scope: event.scope,
        reason: event.reason,
        until: event.until,
      };
    case 'logged_out':
      return { type: 'logged_out', reason: event.reason };
    default:
      return { type: event.state };
  }
}
