import type { DriverEvent, StateEvent } from '../../../core/contracts/driver.ts';
import type { AccountReason } from '../contract.ts';
import type { Happening } from '../status.ts';

const types: readonly string[] = ['step', 'state', 'message', 'receipt', 'contacts', 'history'];
const states: readonly string[] = [
  'connected',
  'lost',
  'restricted',
  'unrestricted',
  'logged_out',
  'refused',
];

/** Whether it is an event at all: drivers come from outside, and types do not hold at run time. */
export function isDriverEvent(event: unknown): event is DriverEvent {
  if (typeof event !== 'object' || event === null || !('type' in event)) return false;
  if (typeof event.type !== 'string' || !types.includes(event.type)) return false;
  if (event.type !== 'state') return true;
  return 'state' in event && typeof event.state === 'string' && states.includes(event.state);
}

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
