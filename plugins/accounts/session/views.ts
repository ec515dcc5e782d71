import { GatewayError } from '../../../core/errors.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import type { SessionView } from './protocol.ts';
import type { SessionRunner } from './runner.ts';

/** A connection as its session sees it. */
export function sessionView(runner: SessionRunner): SessionView {
  const { row, connected } = runner.live;
  return {
    ...restingView(row),
    retryAt: runner.retryAt,
    live: connected,
    step: runner.pairing?.step ?? null,
    pairingEndsAt: runner.pairing?.endsAt ?? null,
  };
}

/** A connection as its record shows it, without a session. */
export function restingView(row: AccountRow): SessionView {
  return {
    accountId: row.id,
    state: row,
    since: row.since,
    retryAt: row.retryAt,
    options: row.connectOptions,
    live: false,
    step: null,
    pairingEndsAt: null,
  };
}

/** The refusal of a connect by a key that is limited to other accounts. */
export function accountOfOthers(): GatewayError {
  const message =
    'This key is limited to some accounts, and this number is none of them; connect it with a key without account_ids.';
  return new GatewayError('scope_missing', { message });
}
