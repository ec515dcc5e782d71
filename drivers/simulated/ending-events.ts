import type { EndedReason, StateEvent } from '../../core/contracts/driver.ts';

const endings: Readonly<Record<EndedReason, string>> = {
  logged_out: 'The session was unlinked on the phone: connect it again.',
  replaced: 'Another session has taken the place of this one: connect it again to take it back.',
  session_lost: 'The network no longer knows this session: connect it again.',
};

/** The link is gone, as the network says. */
export function loggedOut(reason: EndedReason): StateEvent {
  return { type: 'state', state: 'logged_out', reason, detail: endings[reason] };
}

/** The link is gone, as nothing is stored of it. */
export const unknownLink: StateEvent = {
  type: 'state',
  state: 'logged_out',
  reason: 'session_lost',
  detail: 'The credentials of this session are gone: connect it again.',
};

/** The network refused the login. */
export function loginRefused(detail: string): StateEvent {
  return { type: 'state', state: 'refused', reason: 'login_refused', detail, retryAt: null };
}

/** The connection could not be made, or broke. */
export const unreachable: StateEvent = {
  type: 'state',
  state: 'lost',
  reason: 'network_unreachable',
  detail: 'The simulated network cannot be reached: it is tried again.',
  retryAt: null,
};
