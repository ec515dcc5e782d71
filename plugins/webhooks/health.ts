import type { Attempt, Delivery } from './tables/delivery-rows.ts';
import type { Health } from './tables/receiver-rows.ts';

/** When a receiver is paused. */
export interface PauseRules {
  /** Failed attempts in a row. */
  readonly failures: number;
  /** For how long the first of them must be over, milliseconds. */
  readonly forMs: number;
}

/** Requests that a receiver gets at once which is failing or has never answered well. */
const cautiousRequests = 2;

/**
 * The health of a receiver after an attempt: its counts, and the pause of one that keeps failing. A success ends the
 * count but not a pause. Pure.
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
  const isPaused = consecutiveFailures >= rules.failures && now - failingSince >= rules.forMs;
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
    ...(isPaused && health.disabledAt === null
      ? { disabledAt: now, disabledReason: pauseReason(consecutiveFailures, failingSince) }
      : {}),
  };
}

/** Whether the last attempt at a receiver failed. Pure. */
export function isFailing(health: Health): boolean {
  return health.consecutiveFailures > 0;
}

/**
 * How many requests a receiver may have open at once: few while it is failing, and until it has answered well for the
 * first time. Pure.
 * @param concurrency for one that answers well
 */
export function requestsAtOnce(health: Health, concurrency: number): number {
  const isProven = health.lastSuccessAt !== null && !isFailing(health);
  return isProven ? concurrency : Math.min(cautiousRequests, concurrency);
}

function pauseReason(failures: number, since: number): string {
  const from = new Date(since).toISOString();
  return `Paused after ${failures} failed attempts in a row since ${from}.`;
}
