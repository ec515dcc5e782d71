import { unrestricted } from './account-state.ts';
import type { AccountState, CoveredRestriction } from './contract.ts';
import { details } from './reasons.ts';
import { type AccountTrigger, noCause, type Transition, to } from './transitions.ts';

/** The network's restriction to known contacts, also while a hold of the gateway covers it; null without one. */
export function openersRestriction(state: AccountState): CoveredRestriction | null {
  const { restrictionReason: reason, restrictionDetail: detail, restrictedUntil: until } = state;
  if (state.restriction !== 'new_contacts') return state.restrictionBehindHold;
  return reason === null || detail === null ? null : { reason, detail, until };
}

/** The account without a hold of the gateway's that is over, which may still be kept beside a longer restriction. Pure. */
export function withoutPastHold<State extends AccountState>(state: State, now: number): State {
  const isPast = state.heldUntil !== null && state.heldUntil <= now;
  return isPast ? { ...state, heldUntil: null } : state;
}

/** A restriction of the network begins, or a hold of the gateway itself. Pure. */
export function restrict(
  state: AccountState,
  trigger: AccountTrigger & { type: 'restricted' },
): Transition {
  const { scope, reason, detail, until } = trigger;
  const { heldUntil } = state;
  if (heldUntil !== null && (scope === 'new_contacts' || (until !== null && until <= heldUntil))) {
    return hold(state, heldUntil, scope === 'new_contacts' ? { reason, detail, until } : null);
  }
  const isHold = reason === 'safety_limits';
  const limits = {
    restriction: scope,
    restrictionReason: reason,
    restrictionDetail: detail,
    restrictedUntil: until,
    heldUntil: isHold ? until : heldUntil,
    restrictionBehindHold: isHold ? openersRestriction(state) : null,
  } as const;
  if (scope === 'new_contacts') {
    // Only openers are held back: the account goes on sending, so its status stays.
    const lifted = state.status === 'restricted' ? lift(state) : to(state);
    return { ...lifted, state: { ...lifted.state, ...limits } };
  }
  const cause = { reason, detail, retryAt: null };
  const next: AccountState = { ...state, ...limits, ...cause, status: 'restricted' };
  return state.status === 'restricted' ? to(next) : to(next, 'account.restricted');
}

/**
 * The hold of the gateway itself goes on, whatever became of the network's restriction; its end lifts it if that is past.
 * @param covered what the network restricts from then on
 */
export function hold(
  state: AccountState,
  until: number,
  covered: CoveredRestriction | null,
): Transition {
  const isSame = covered === state.restrictionBehindHold;
  const next = isSame ? state : { ...state, restrictionBehindHold: covered };
  if (state.restrictionReason === 'safety_limits') return to(next);
  const cause = { reason: 'safety_limits', detail: details.safety_limits(until) } as const;
  return restrict(
    { ...next, heldUntil: null },
    { type: 'restricted', scope: 'all', ...cause, until },
  );
}

/** A restriction has run out, and with a hold of the gateway all but the network's restriction that it covered. */
export function due(state: AccountState, now: number): Transition {
  const { restrictedUntil, restrictionBehindHold: covered } = state;
  if (restrictedUntil === null || restrictedUntil > now) return to(state);
  const lifted = lift(state);
  if (covered === null || (covered.until !== null && covered.until <= now)) return lifted;
  const limits = {
    restriction: 'new_contacts',
    restrictionReason: covered.reason,
    restrictionDetail: covered.detail,
    restrictedUntil: covered.until,
  } as const;
  return { ...lifted, state: { ...lifted.state, ...limits } };
}

/** The restriction is over, with whatever hold there was. Pure. */
export function lift(state: AccountState): Transition {
  if (state.status !== 'restricted') return to({ ...state, ...unrestricted });
  return to({ ...state, ...unrestricted, ...noCause, status: 'connected' }, 'account.connected');
}
