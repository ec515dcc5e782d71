import type { Row } from '../../../core/contracts/sql.ts';
import type {
  AccountReason,
  AccountState,
  AccountStatus,
  ConnectOptions,
  CoveredRestriction,
  Mode,
} from '../contract.ts';

/** One account's record. Removed ones are only found by id. */
export interface AccountRow extends AccountState {
  readonly id: string;
  readonly tenantId: string;
  /** The tenant's mode. */
  readonly mode: Mode;
  readonly channel: string;
  /** E.164 with `+`, or another network's own identifier. */
  readonly identifier: string;
  readonly connectOptions: ConnectOptions;
  /** Where it connects through, sealed; null, or none sealed: directly. */
  readonly proxy: string | null;
  /** When the status or its reason last changed. */
  readonly since: number;
  /** The UTC day `YYYY-MM-DD` of the first connection; null before it. */
  readonly rampDayOne: string | null;
  readonly createdAt: number;
  /** When the last connect operation succeeded; null when none did. */
  readonly connectedAt: number | null;
  readonly removedAt: number | null;
}

/** One row of `accounts`, with the mode of its tenant. */
export interface StoredAccount {
  readonly id: string;
  readonly tenant_id: string;
  readonly mode: Mode;
  readonly channel: string;
  readonly identifier: string;
  readonly status: AccountStatus;
  readonly reason: AccountReason | null;
  readonly detail: string | null;
  readonly retry_at: number | null;
  readonly status_since: number;
  readonly linked: number;
  readonly restriction: 'all' | 'new_contacts' | null;
  readonly restriction_reason: AccountReason | null;
  readonly restriction_detail: string | null;
  readonly restricted_until: number | null;
  readonly held_until: number | null;
  readonly restriction_behind_hold: string | null;
  readonly connect_options: string;
  readonly proxy: string | null;
  readonly announced: number;
  readonly ever_connected: number;
  readonly ramp_day_one: string | null;
  readonly created_at: number;
  readonly connected_at: number | null;
  readonly removed_at: number | null;
}

/** A stored row in the program's words. */
export function accountRow(row: StoredAccount): AccountRow {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    mode: row.mode,
    channel: row.channel,
    identifier: row.identifier,
    status: row.status,
    reason: row.reason,
    detail: row.detail,
    retryAt: row.retry_at,
    linked: row.linked === 1,
    restriction: row.restriction,
    restrictionReason: row.restriction_reason,
    restrictionDetail: row.restriction_detail,
    restrictedUntil: row.restricted_until,
    heldUntil: row.held_until,
    restrictionBehindHold: covered(row.restriction_behind_hold),
    connectOptions: JSON.parse(row.connect_options) as ConnectOptions,
    proxy: row.proxy,
    since: row.status_since,
    announced: row.announced === 1,
    everConnected: row.ever_connected === 1,
    rampDayOne: row.ramp_day_one,
    createdAt: row.created_at,
    connectedAt: row.connected_at,
    removedAt: row.removed_at,
  };
}

/** The columns of an account's state. */
export function stateColumns(state: AccountState): Row {
  return {
    status: state.status,
    reason: state.reason,
    detail: state.detail,
    retry_at: state.retryAt,
    linked: state.linked ? 1 : 0,
    restriction: state.restriction,
    restriction_reason: state.restrictionReason,
    restriction_detail: state.restrictionDetail,
    restricted_until: state.restrictedUntil,
    held_until: state.heldUntil,
    restriction_behind_hold:
      state.restrictionBehindHold && JSON.stringify(state.restrictionBehindHold),
    announced: state.announced ? 1 : 0,
    ever_connected: state.everConnected ? 1 : 0,
  };
}

function covered(value: string | null): CoveredRestriction | null {
  return value === null ? null : (JSON.parse(value) as CoveredRestriction);
}
