import type {
  BlockedReason,
  Cause,
  EndedReason,
  LostReason,
  RefusedReason,
} from '../../core/contracts/driver.ts';
import type { AccountReason, AccountState, OwnReason } from './contract.ts';

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

/** A status without a cause. */
export const noCause = { reason: null, detail: null, retryAt: null } as const;

/** The transition to a state, with the event that it raises, if any. Pure. */
export function to(state: AccountState, event?: AccountEvent['type']): Transition {
  const { status, reason } = state;
  return {
    state,
    events: event === undefined ? [] : [{ type: event, status, reason }],
    abandon: null,
  };
}
