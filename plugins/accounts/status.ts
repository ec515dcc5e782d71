import type { AccountReason, AccountState } from './contract.ts';

/** What can happen to an account. */
export type Happening =
  /** A connect operation: whatever link there was is discarded. */
  | { readonly type: 'connect' }
  /** The session is live. */
  | { readonly type: 'connected' }
  /** The number is linked to another live tenant: the link that was just made is given up. */
  | { readonly type: 'claimed_elsewhere' }
  | { readonly type: 'lost' }
  | {
      readonly type: 'restricted';
      readonly scope: 'all' | 'new_contacts';
      readonly reason: AccountReason;
      readonly until: number | null;
    }
  /** The network lifted its restriction. */
  | { readonly type: 'unrestricted' }
  /** Time to look whether a restriction has run out. */
  | { readonly type: 'restriction_due'; readonly now: number }
  | { readonly type: 'logged_out'; readonly reason: 'logged_out' | 'replaced' | 'session_lost' }
  /** The network refused the login, or too many wrong values were handed in. */
  | { readonly type: 'refused' }
  | { readonly type: 'pairing_timeout' }
  /** The process that was pairing the account is gone, or nobody waits for the pairing any more. */
  | { readonly type: 'pairing_abandoned' }
  | { readonly type: 'remove' };

/** What an account event tells of the account. */
export interface AccountEvent {
  readonly type: 'account.connected' | 'account.disconnected' | 'account.restricted';
  readonly status: AccountState['status'];
  readonly reason: AccountReason | null;
}

/** The outcome of a happening. */
export interface Move {
  readonly state: AccountState;
  readonly events: readonly AccountEvent[];
  /** Not null: the link is over and the queued messages fail with this reason. */
  readonly abandon: AccountReason | null;
}

/** What an account is before its first connect. */
export const unconnected: AccountState = {
  status: 'disconnected',
  reason: null,
  linked: false,
  restriction: null,
  restrictionReason: null,
  restrictedUntil: null,
  announced: false,
  everConnected: false,
};

const unrestricted = { restriction: null, restrictionReason: null, restrictedUntil: null } as const;

/**
 * Decides one happening. Pure.
 * @returns the move, whose state may be the very same object when nothing changes; null when a happening
 *   has no place in this status: it is refused and logged
 */
export function move(state: AccountState, happening: Happening): Move | null {
  switch (happening.type) {
    case 'connect':
      return connect(state);
    case 'remove':
      return ended(state, 'removed');
    default:
      return state.status === 'disconnected' ? null : moveLive(state, happening);
  }
}

/** Pairing: a link is being made, nothing of it is stored yet. */
export function isPairing(state: AccountState): boolean {
  return state.status === 'connecting' && !state.linked;
}

/** The number belongs to this account: connected, reconnecting or restricted. */
export function holdsNumber(state: AccountState): boolean {
  return state.status !== 'disconnected' && state.linked;
}

/** Counts against the plan's `accounts_cap`. */
export function countsAgainstCap(state: AccountState): boolean {
  return state.status === 'connecting' || state.everConnected;
}

type LiveHappening = Exclude<Happening, { type: 'connect' | 'remove' }>;

function moveLive(state: AccountState, happening: LiveHappening): Move | null {
  switch (happening.type) {
    case 'connected':
      return connected(state);
    case 'lost':
      return state.status === 'connected' ? to({ ...state, status: 'connecting' }) : to(state);
    case 'restricted':
      return state.linked ? restrict(state, happening) : null;
    case 'unrestricted':
      return state.restrictionReason === 'safety_limits' ? to(state) : lift(state);
    case 'restriction_due':
      return state.restrictedUntil !== null && state.restrictedUntil <= happening.now
        ? lift(state)
        : to(state);
    case 'logged_out':
      return ended(state, happening.reason);
    case 'claimed_elsewhere':
      return isPairing(state) ? ended(state, 'logged_out') : null;
    case 'refused':
      return isPairing(state)
        ? to({ ...disconnected(state), reason: 'login_refused' })
        : ended(state, 'session_lost');
    case 'pairing_timeout':
      return isPairing(state) ? ended(state, 'pairing_timeout') : null;
    case 'pairing_abandoned':
      return isPairing(state) ? ended(state, 'session_lost') : null;
  }
}

function connect(state: AccountState): Move {
  const over = state.status === 'disconnected' ? null : ended(state, 'logged_out');
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
function connected(state: AccountState): Move {
  if (state.status === 'restricted' || state.status === 'connected') return to(state);
  const next: AccountState = {
    ...state,
    status: 'connected',
    reason: null,
    linked: true,
    announced: true,
    everConnected: true,
  };
  return state.announced ? to(next) : to(next, 'account.connected');
}

function restrict(state: AccountState, happening: LiveHappening & { type: 'restricted' }): Move {
  const { scope, reason, until } = happening;
  const limits = { restriction: scope, restrictionReason: reason, restrictedUntil: until } as const;
  if (scope === 'new_contacts') {
    if (state.restrictionReason === 'safety_limits') return to(state);
    // Only openers are held back: the account goes on sending, so its status says nothing of it.
    const lifted = state.status === 'restricted' ? lift(state) : to(state);
    return { ...lifted, state: { ...lifted.state, ...limits } };
  }
  const next: AccountState = { ...state, ...limits, status: 'restricted', reason };
  return state.status === 'restricted' ? to(next) : to(next, 'account.restricted');
}

function lift(state: AccountState): Move {
  if (state.status !== 'restricted') return to({ ...state, ...unrestricted });
  return to({ ...state, ...unrestricted, status: 'connected', reason: null }, 'account.connected');
}

function ended(state: AccountState, reason: AccountReason): Move {
  const raises = state.announced && state.status !== 'disconnected';
  const next: AccountState = { ...disconnected(state), reason };
  return {
    state: next,
    events: raises ? [{ type: 'account.disconnected', status: 'disconnected', reason }] : [],
    abandon: reason,
  };
}

function disconnected(state: AccountState): AccountState {
  return { ...state, ...unrestricted, status: 'disconnected', linked: false };
}

function to(state: AccountState, event?: AccountEvent['type']): Move {
  const { status, reason } = state;
  const shown = reason === 'login_refused' ? 'session_lost' : reason;
  return {
    state,
    events: event === undefined ? [] : [{ type: event, status, reason: shown }],
    abandon: null,
  };
}
