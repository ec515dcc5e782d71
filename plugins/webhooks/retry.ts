import type { Attempt, AttemptedDelivery } from './tables/delivery-rows.ts';

/** Schedule of automatic retries. */
export interface RetryRules {
  /** Pauses before the automatic retries, milliseconds. */
  readonly delaysMs: readonly number[];
}

/** Maximum attempts in the log of a delivery. */
const loggedAttempts = 20;

/**
 * State of a delivery after an attempt: delivered, waiting for an automatic retry, or failed. Pure.
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
