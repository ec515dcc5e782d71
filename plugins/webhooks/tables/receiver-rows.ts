import type { EventType } from '../../../core/contracts/events.ts';
import type { Row } from '../../../core/contracts/sql.ts';
import type { LeaseToken } from '../../cluster/contract.ts';

/** Why an attempt failed: an egress failure, or an answer other than 2xx. */
export type FailureKind = 'timeout' | 'connection' | 'tls' | 'blocked' | 'status';

/** The last failed attempt of a receiver. */
export interface LastFailure {
  readonly at: number;
  readonly event: EventType;
  readonly deliveryId: string;
  readonly attempt: number;
  readonly kind: FailureKind;
  /** The status answered; null unless `kind` is `status`. */
  readonly statusCode: number | null;
  readonly message: string;
  readonly durationMs: number;
}

/** Delivery health of one tenant's URL (specification: Webhook delivery health). Totals count attempts. */
export interface Health {
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
  readonly totalSuccesses: number;
  /** Time of the first consecutive failure; null without one. */
  readonly failingSince: number | null;
  /** Not null while paused. */
  readonly disabledAt: number | null;
  readonly disabledReason: string | null;
  readonly lastFailure: LastFailure | null;
  readonly lastSuccessAt: number | null;
  /** Time of the first counted attempt; null without one, and then the API shows no health. */
  readonly attemptedAt: number | null;
  readonly updatedAt: number;
}

/** One tenant's URL, behind one or more subscriptions. */
export interface Receiver {
  /** SHA-256 of tenant and URL, hex. */
  readonly id: string;
  readonly tenantId: string;
  readonly url: string;
  readonly health: Health;
}

/** A receiver with the lease on it: one process at a time delivers, so that first attempts keep their order. */
export interface LeasedReceiver {
  readonly receiver: Receiver;
  readonly lease: LeaseToken;
}

/** A row of `receivers`, without its lease. */
export interface ReceiverColumns {
  readonly id: string;
  readonly tenant_id: string;
  readonly url: string;
  readonly consecutive_failures: number;
  readonly total_failures: number;
  readonly total_successes: number;
  readonly failing_since: number | null;
  readonly disabled_at: number | null;
  readonly disabled_reason: string | null;
  readonly last_failure: string | null;
  readonly last_success_at: number | null;
  readonly attempted_at: number | null;
  readonly updated_at: number;
}

/** The health of a receiver as columns of its row. */
export function healthRow(id: string, health: Health): Row {
  return {
    id,
    consecutive_failures: health.consecutiveFailures,
    total_failures: health.totalFailures,
    total_successes: health.totalSuccesses,
    failing_since: health.failingSince,
    disabled_at: health.disabledAt,
    disabled_reason: health.disabledReason,
    last_failure: health.lastFailure === null ? null : JSON.stringify(health.lastFailure),
    last_success_at: health.lastSuccessAt,
    attempted_at: health.attemptedAt,
    updated_at: health.updatedAt,
  };
}

/** A row as a receiver. */
export function receiverOf(row: ReceiverColumns): Receiver {
  return {
    id: row.id,
    tenantId: row.tenant_id,
    url: row.url,
    health: {
      consecutiveFailures: row.consecutive_failures,
      totalFailures: row.total_failures,
      totalSuccesses: row.total_successes,
      failingSince: row.failing_since,
      disabledAt: row.disabled_at,
      disabledReason: row.disabled_reason,
      // Written by `healthRow` alone.
      lastFailure: row.last_failure === null ? null : (JSON.parse(row.last_failure) as LastFailure),
      lastSuccessAt: row.last_success_at,
      attemptedAt: row.attempted_at,
      updatedAt: row.updated_at,
    },
  };
}
