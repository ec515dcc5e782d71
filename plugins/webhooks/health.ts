import type { Attempt, Delivery } from './tables/delivery-rows.ts';
import type { Health } from './tables/receiver-rows.ts';

/** Rules of the pause of a receiver: both must be met. */
export interface PauseRules {
  /** Minimum of failed attempts in a row. */
  readonly failures: number;
  /** Minimum age of the first of them, milliseconds. */
  readonly forMs: number;
  /** Whether 410 is a failure as any other, as it is for MCP Events. Default: false. */
  readonly ignoresGone?: boolean;
}

/** Status with which a receiver says that it wants no more deliveries. */
const gone = 410;
const goneReason = 'Paused because the receiver answered 410 Gone.';

/** Maximum concurrent requests to a receiver that is failing or has never answered 2xx. */
const cautiousRequests = 2;

/**
 * Health after an attempt: the counts, and the pause of a receiver that keeps failing, or answers 410. A success resets
 * the count of failures but ends no pause. Pure.
 * @param now when the attempt was over
 */
export function afterAttemptAt(
  health: Health,
  delivery: Pick<Delivery, 'id' | 'eventType'>,
  attempt: Attempt,
  rules: PauseRules,
  now: number,
): Health {
  const seen = { ...health, attemptedAt: health.attemptedAt ?? now, updatedAt: now };
  const { failure } = attempt;
  if (failure === null) {
    return {
      ...seen,
      consecutiveFailures: 0,
      failingSince: null,
      totalSuccesses: health.totalSuccesses + 1,
      lastSuccessAt: now,
    };
  }
  const consecutiveFailures = health.consecutiveFailures + 1;
  const failingSince = health.failingSince ?? now;
  const isGone = attempt.statusCode === gone && rules.ignoresGone !== true;
  const isWornOut = consecutiveFailures >= rules.failures && now - failingSince >= rules.forMs;
  return {
    ...seen,
    consecutiveFailures,
    totalFailures: health.totalFailures + 1,
    failingSince,
    lastFailure: {
      at: now,
      event: delivery.eventType,
      deliveryId: delivery.id,
      attempt: attempt.number,
      kind: failure.kind,
      statusCode: attempt.statusCode,
      message: failure.message,
      durationMs: attempt.durationMs,
    },
    ...((isGone || isWornOut) && health.disabledAt === null
      ? {
          disabledAt: now,
          disabledReason: isGone ? goneReason : pauseReason(consecutiveFailures, failingSince),
        }
      : {}),
  };
}

/** Whether the last attempt at a receiver failed. Pure. */
export function isFailing(health: Health): boolean {
  return health.consecutiveFailures > 0;
}

/**
 * Maximum concurrent requests to a receiver: few while it is failing, and until its first 2xx. Pure.
 * @param concurrency of a receiver that answers 2xx
 */
export function requestsAtOnce(health: Health, concurrency: number): number {
  const isProven = health.lastSuccessAt !== null && !isFailing(health);
  return isProven ? concurrency : Math.min(cautiousRequests, concurrency);
}

function pauseReason(failures: number, since: number): string {
  const from = new Date(since).toISOString();
  return `Paused after ${failures} failed attempts in a row since ${from}.`;
}
