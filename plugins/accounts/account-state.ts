import type { AccountState } from './contract.ts';
import { isRefusedLogin } from './reasons.ts';

/** What a restriction says of an account that has none. */
export const unrestricted = {
  restriction: null,
  restrictionReason: null,
  restrictionDetail: null,
  restrictedUntil: null,
  heldUntil: null,
  restrictionBehindHold: null,
} as const;

/** What an account is before its first connect. */
export const unconnected: AccountState = {
  status: 'disconnected',
  reason: null,
  detail: null,
  retryAt: null,
  linked: false,
  announced: false,
  everConnected: false,
  ...unrestricted,
};

/** Pairing: a link is being made, and nothing of it is stored yet. */
export function isPairing(state: AccountState): boolean {
  return state.status === 'connecting' && !state.linked;
}

/** Never linked, or the last linking was cut short: there is neither a session nor credentials, and nothing has ended. */
export function isUninitialized({ status, reason }: AccountState): boolean {
  return status === 'disconnected' && (reason === null || reason === 'pairing_abandoned');
}

/** The last login was refused: by the network, or after too many wrong values. */
export function isRefused(state: AccountState): boolean {
  return state.status === 'disconnected' && isRefusedLogin(state.reason);
}

/** The cause of the status, or of a restriction to known contacts, which leaves the status as it is. */
export function causeOf(state: AccountState): Pick<AccountState, 'reason' | 'detail'> {
  const { reason, detail, restrictionReason, restrictionDetail } = state;
  return reason === null
    ? { reason: restrictionReason, detail: restrictionDetail }
    : { reason, detail };
}

/** The number belongs to this account: connected, reconnecting or restricted. */
export function ownsNumber(state: AccountState): boolean {
  return state.status !== 'disconnected' && state.linked;
}

/** Counts against the plan's `accounts_cap`. */
export function countsAgainstCap(state: AccountState): boolean {
  return state.status === 'connecting' || state.everConnected;
}
