import type { Attempt, AttemptedDelivery } from './tables/delivery-rows.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** Schedule of automatic retries. */
export interface RetryRules {
  /** Pauses before the automatic retries, milliseconds. */
  readonly delaysMs: readonly number[];
}

/** Schedules of both kinds of subscriptions. */
export interface RetrySchedules extends RetryRules {
  /** Pauses before the retries of MCP Events, milliseconds. */
  readonly eventDelaysMs: readonly number[];
}

/** Statuses after which MCP Events (SEP-3415) wants no further try of a delivery: gone, and too large. */
const finalStatuses = [410, 413];

/** Schedule that holds after an attempt of a subscription; without pauses where it is not retried. Pure. */
export function scheduleOf(
  webhook: Pick<Webhook, 'retriesEnabled' | 'grant'> | undefined,
  { statusCode, unsent }: Pick<Attempt, 'statusCode' | 'unsent'>,
  { delaysMs, eventDelaysMs }: RetrySchedules,
): RetryRules {
  if (webhook === undefined || unsent === 'final') return { delaysMs: [] };
  if (webhook.grant === null) return { delaysMs: webhook.retriesEnabled ? delaysMs : [] };
  const isFinal = statusCode !== null && finalStatuses.includes(statusCode);
  return { delaysMs: isFinal ? [] : eventDelaysMs };
}

/** Maximum attempts in the log of a delivery. */
const loggedAttempts = 20;

/**
 * State of a delivery after an attempt: delivered, waiting for an automatic retry, or failed. Pure.
 * @param rules those of its subscription
 * @param now when the attempt was over
 */
export function afterAttempt(
  delivery: AttemptedDelivery,
  attempt: Attempt,
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
  if (delivery.replayed || delayMs === undefined) {
    return { ...made, state: 'failed' };
  }
  return { ...made, state: 'waiting', retries: delivery.retries + 1, dueAt: now + delayMs };
}
