import type { Cause } from '../../core/contracts/driver.ts';
import { isPairing, unconnected, unrestricted } from './account-state.ts';
import type { AccountReason, AccountState } from './contract.ts';
import { details } from './reasons.ts';
import { due, hold, lift, restrict } from './restrictions.ts';
import { type AccountTrigger, noCause, type Transition, to } from './transitions.ts';

/**
 * Decides one trigger. Pure.
 * @returns the transition, whose state may be the same object when nothing changes; null when the trigger does not
 *   apply in this status: it is refused and logged
 */
export function accountTransition(state: AccountState, trigger: AccountTrigger): Transition | null {
  switch (trigger.type) {
    case 'connect':
      return connect(state);
    case 'remove':
      return ended(state, { reason: 'removed', detail: details.removed });
    default:
      return state.status === 'disconnected' ? null : transitionLive(state, trigger);
  }
}

type LiveTrigger = Exclude<AccountTrigger, { type: 'connect' | 'remove' }>;

function transitionLive(state: AccountState, trigger: LiveTrigger): Transition | null {
  switch (trigger.type) {
    case 'connected':
      return connected(state);
    case 'lost':
      return lost(state, trigger);
    case 'reached':
      return isPairing(state) && state.reason !== null ? to({ ...state, ...noCause }) : to(state);
    case 'restricted':
      return state.linked ? restrict(state, trigger) : null;
    case 'unrestricted':
      return state.heldUntil === null ? lift(state) : hold(state, state.heldUntil, null);
    case 'restriction_due':
      return due(state, trigger.now);
    case 'logged_out':
    case 'refused':
      return ended(state, trigger);
    case 'claimed_elsewhere':
      return unlinked(state, { reason: 'conflict', detail: details.claimed_elsewhere });
    case 'pairing_timeout':
      return unlinked(state, { reason: 'pairing_timeout', detail: details.pairing_timeout });
    case 'pairing_abandoned':
      return unlinked(state, { reason: 'pairing_abandoned', detail: details.pairing_abandoned });
  }
}

/** A repeated loss changes nothing: an account that is tried again and again costs no write. */
function lost(state: AccountState, trigger: LiveTrigger & { type: 'lost' }): Transition {
  const { reason, detail, retryAt } = trigger;
  if (state.status === 'restricted') return to(state);
  const isRepeated =
    state.status === 'connecting' &&
    state.reason === reason &&
    state.detail === detail &&
    state.retryAt === retryAt;
  return to(isRepeated ? state : { ...state, status: 'connecting', reason, detail, retryAt });
}

function connect(state: AccountState): Transition {
  const over =
    state.status === 'disconnected'
      ? null
      : ended(state, { reason: 'logged_out', detail: details.linked_anew });
  return {
    state: {
      ...unconnected,
      status: 'connecting',
      everConnected: state.everConnected,
    },
    events: over?.events ?? [],
    abandon: over?.abandon ?? null,
  };
}

/** Connected again after a drop, a restart or a handover raises nothing; a restriction outlives them. */
function connected(state: AccountState): Transition {
  if (state.status === 'restricted' || state.status === 'connected') return to(state);
  const next: AccountState = {
    ...state,
    ...noCause,
    status: 'connected',
    linked: true,
    announced: true,
    everConnected: true,
  };
  return state.announced ? to(next) : to(next, 'account.connected');
}

/** The end of a pairing; null when nothing is being paired. */
function unlinked(state: AccountState, cause: Cause<AccountReason>): Transition | null {
  return isPairing(state) ? ended(state, cause) : null;
}

function ended(
  state: AccountState,
  cause: Cause<AccountReason> & { readonly retryAt?: number | null },
): Transition {
  const { reason, detail, retryAt = null } = cause;
  const raises = state.announced && state.status !== 'disconnected';
  return {
    state: {
      ...state,
      ...unrestricted,
      ...{ reason, detail, retryAt },
      status: 'disconnected',
      linked: false,
    },
    events: raises ? [{ type: 'account.disconnected', status: 'disconnected', reason }] : [],
    abandon: reason,
  };
}
