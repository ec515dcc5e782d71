import type { StateEvent } from '../../../core/contracts/driver.ts';
import type { AccountReason } from '../contract.ts';
import type { Happening } from '../status.ts';

/** What a state of the session means for the account. Pure. */
export function happeningOf(event: StateEvent, channel: string): Happening {
  switch (event.state) {
    case 'restricted':
      return {
        type: 'restricted',
        scope: event.scope,
        reason: blockedBy(channel),
        until: event.until,
      };
    case 'logged_out':
      return { type: 'logged_out', reason: event.reason };
    default:
      return { type: event.state };
  }
}

/** The reason of a restriction by the network itself. */
function blockedBy(channel: string): AccountReason {
  if (channel === 'chatapp') return 'blocked_by_chatapp';
  return channel === 'msgapp_web' ? 'blocked_by_msgapp' : 'blocked_by_network';
}
