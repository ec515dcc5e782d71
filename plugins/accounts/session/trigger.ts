import type { StateEvent } from '../../../core/contracts/driver.ts';
import type { AccountTrigger } from '../transitions.ts';

/** The trigger that a state of the session is for its account: reason, sentence and times unchanged. Pure. */
export function triggerOf(event: StateEvent): AccountTrigger {
  switch (event.state) {
    case 'lost': {
      const { reason, detail, retryAt } = event;
      return { type: 'lost', reason, detail, retryAt };
    }
    case 'refused': {
      const { reason, detail, retryAt } = event;
      return { type: 'refused', reason, detail, retryAt };
    }
    case 'restricted': {
      const { scope, reason, detail, until } = event;
      return { type: 'restricted', scope, reason, detail, until };
    }
    case 'logged_out': {
      const { reason, detail } = event;
      return { type: 'logged_out', reason, detail };
    }
    default:
      return { type: event.state };
  }
}
