import type { Attempt, AttemptedDelivery, Delivery } from './tables/delivery-rows.ts';
import type { Webhook } from './tables/webhook-rows.ts';

/** Schedules of both kinds of subscriptions. */
export interface RetrySchedules {
  /** Pauses before the automatic retries of webhooks, milliseconds. */
  readonly delaysMs: readonly number[];
  /** Pauses before the retries of MCP Events, milliseconds. */
  readonly eventDelaysMs: readonly number[];
}

/** Statuses after which MCP Events (SEP-3415) wants no further try of a delivery: gone, and too large. */
const finalStatuses = [410, 413];

/** Pauses before the retries of a subscription after an attempt, milliseconds; none where it is not retried. Pure. */
export function scheduleOf(
  webhook: Pick<Webhook, 'retriesEnabled' | 'grant'> | undefined,
  { statusCode, unsent }: Pick<Attempt, 'statusCode' | 'unsent'>,
  { delaysMs, eventDelaysMs }: RetrySchedules,
): readonly number[] {
  if (webhook === undefined || unsent === 'final') return [];
  if (webhook.grant === null) return webhook.retriesEnabled ? delaysMs : [];
  const isFinal = statusCode !== null && finalStatuses.includes(statusCode);
  return isFinal ? [] : eventDelaysMs;
}

/** Whether a waiting delivery is an automatic retry. Pure. */
export function isRetry({ attempts, replayed }: Pick<Delivery, 'attempts' | 'replayed'>): boolean {
  return attempts > 0 && !replayed;
}

/** Whether a waiting retry is to end as failed: retries are off, and nobody brought it forward. Pure. */
export function isCalledOff(
  { retriesEnabled, grant }: Pick<Webhook, 'retriesEnabled' | 'grant'>,
  delivery: Pick<Delivery, 'attempts' | 'replayed' | 'broughtForward'>,
): boolean {
  if (retriesEnabled || grant !== null) return false;
  return isRetry(delivery) && delivery.broughtForward !== true;
}

/** Whether the receiver has taken a delivery, as far back as its log goes. Pure. */
export function wasTaken({ log }: Pick<Delivery, 'log'>): boolean {
  return log.some(({ failure }) => failure === null);
}

/** Maximum attempts in the log of a delivery. */
const loggedAttempts = 20;

/**
 * State of a delivery after an attempt: delivered, waiting for an automatic retry, or failed. Pure.
 * @param delaysMs the pauses before the retries of its subscription, milliseconds
 * @param now when the attempt was over
 */
export function afterAttempt(
  delivery: AttemptedDelivery,
  attempt: Attempt,
  delaysMs: readonly number[],
  now: number,
): AttemptedDelivery {
  const made = {
    ...delivery,
    attempts: attempt.number,
    broughtForward: false,
    dueAt: null,
    log: [...delivery.log, attempt].slice(-loggedAttempts),
  };
  if (attempt.failure === null) return { ...made, state: 'delivered' };
  const delayMs = delaysMs[delivery.retries];
  if (delivery.replayed || delayMs === undefined) {
    return { ...made, state: 'failed' };
  }
  return { ...made, state: 'waiting', retries: delivery.retries + 1, dueAt: now + delayMs };
}
