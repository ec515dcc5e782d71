import type { Attempt, AttemptedDelivery } from './tables/delivery-rows.ts';

/** How failed deliveries are repeated. */
export interface RetryRules {
  /** Pauses before the automatic retries, milliseconds. */
  readonly delaysMs: readonly number[];
}

/** Attempts that the log of a delivery keeps. */
const loggedAttempts = 20;

/**
 * A waiting delivery after its next attempt: delivered, waiting for an automatic retry, or failed. Pure.
 * @param retriesEnabled the subscription's switch
 * @param now when the attempt was over
 */
export function afterAttempt(
  delivery: AttemptedDelivery,
  attempt: Attempt,
  retriesEnabled: boolean,
  rules: RetryRules,
  now: number,
): AttemptedDelivery {
  const made = {
    ...delivery,
    attempts: attempt.number,
    dueAt: null,
    log: [...delivery.log, attempt].slice(-loggedAttempts),
  };
  if (attempt.failure === null) return { ...made, state: 'delivered' };
  const delayMs = rules.delaysMs[delivery.retries];
  if (!retriesEnabled || delivery.replayed || delayMs === undefined) {
    return { ...made, state: 'failed' };
  }
  return { ...made, state: 'waiting', retries: delivery.retries + 1, dueAt: now + delayMs };
}
