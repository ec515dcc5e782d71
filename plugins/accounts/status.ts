import type {
  BlockedReason,
  Cause,
  EndedReason,
  LostReason,
  RefusedReason,
} from '../../core/contracts/driver.ts';
import { isPairing, openersRestriction, unconnected } from './account-state.ts';
import type { AccountReason, AccountState, CoveredRestriction, OwnReason } from './contract.ts';
import { details } from './reasons.ts';

/** What can change the status of an account. */
export type AccountTrigger =
  /** A connect operation: whatever link there was is discarded. */
  | { readonly type: 'connect' }
  /** The session is live. */
  | { readonly type: 'connected' }
  /** The number is linked to another live tenant: the new link is given up. */
  | { readonly type: 'claimed_elsewhere' }
  | (Cause<LostReason> & { readonly type: 'lost'; readonly retryAt: number | null })
  /** The network answers again while the account is being linked: a step came. */
  | { readonly type: 'reached' }
  | (Cause<BlockedReason | OwnReason> & {
      readonly type: 'restricted';
      readonly scope: 'all' | 'new_contacts';
      readonly until: number | null;
    })
  /** The network lifted its restriction. */
  | { readonly type: 'unrestricted' }
  /** A restriction may have run out by now. */
  | { readonly type: 'restriction_due'; readonly now: number }
  | (Cause<EndedReason> & { readonly type: 'logged_out' })
  /** The network refused the login, or too many wrong values were handed in. */
  | (Cause<RefusedReason> & { readonly type: 'refused'; readonly retryAt: number | null })
  | { readonly type: 'pairing_timeout' }
  /** The process that was pairing the account is gone, or the caller of the connect is. */
  | { readonly type: 'pairing_abandoned' }
  | { readonly type: 'remove' };

/** What an account event shows of the account. */
export interface AccountEvent {
  readonly type: 'account.connected' | 'account.disconnected' | 'account.restricted';
  readonly status: AccountState['status'];
  readonly reason: AccountReason | null;
}

/** What a trigger changes. */
export interface Transition {
  readonly state: AccountState;
  readonly events: readonly AccountEvent[];
  /** Not null: the link is over and the queued messages fail with this reason. */
  readonly abandon: AccountReason | null;
}

const noCause = { reason: null, detail: null, retryAt: null } as const;
const unrestricted = {
  restriction: null,
  restrictionReason: null,
  restrictionDetail: null,
  restrictedUntil: null,
  heldUntil: null,
  restrictionBehindHold: null,
} as const;

/**
 * Decides one trigger. Pure.
 * @returns the accountTransition, whose state may be the same object when nothing changes; null when the trigger does not
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

/** The account without a hold of the gateway's that is over, which may still be kept beside a longer restriction. Pure. */
export function withoutPastHold<State extends AccountState>(state: State, now: number): State {
  const isPast = state.heldUntil !== null && state.heldUntil <= now;
  return isPast ? { ...state, heldUntil: null } : state;
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

function restrict(state: AccountState, trigger: LiveTrigger & { type: 'restricted' }): Transition {
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
function hold(state: AccountState, until: number, covered: CoveredRestriction | null): Transition {
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
function due(state: AccountState, now: number): Transition {
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

function lift(state: AccountState): Transition {
  if (state.status !== 'restricted') return to({ ...state, ...unrestricted });
  return to({ ...state, ...unrestricted, ...noCause, status: 'connected' }, 'account.connected');
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

function to(state: AccountState, event?: AccountEvent['type']): Transition {
  const { status, reason } = state;
  return {
    state,
    events: event === undefined ? [] : [{ type: event, status, reason }],
    abandon: null,
  };
}
