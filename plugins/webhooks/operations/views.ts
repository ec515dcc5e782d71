import type { Static } from 'typebox';
import type { Json } from '../../../core/contracts/json.ts';
import { nullableTimestamp, timestamp } from '../../../core/schemas.ts';
import type { LoggedDelivery } from '../delivery-log.ts';
import type { Health } from '../tables/receiver-rows.ts';
import type { Webhook } from '../tables/webhook-rows.ts';
import type { DeliverySchema } from './delivery-schemas.ts';
import type { WebhookSchema } from './schemas.ts';

/** A subscription as answers show it: never with its secret. Pure. */
export function webhookView(webhook: Webhook): Static<typeof WebhookSchema> {
  const { secretCreatedAt } = webhook;
  return {
    id: webhook.id,
    name: webhook.name,
    url: webhook.url,
    subscribed_to: [...webhook.subscribedTo],
    account_ids: webhook.accountIds === null ? null : [...webhook.accountIds],
    channels: webhook.channels === null ? null : [...webhook.channels],
    created_at: timestamp(webhook.createdAt),
    signing_enabled: webhook.sealedSecret !== null,
    ...(secretCreatedAt === null ? {} : { signing_secret_created_at: timestamp(secretCreatedAt) }),
    retries_enabled: webhook.retriesEnabled,
    enabled: webhook.enabled,
  };
}

/** Delivery health as the list of subscriptions shows it; nothing attempted counts as no failure. Pure. */
export function shortHealthView(health: Health | undefined) {
  return {
    consecutive_failures: health?.consecutiveFailures ?? 0,
    is_disabled: (health?.disabledAt ?? null) !== null,
  };
}

/** Delivery health as answers show it. Pure. */
export function healthView(health: Health | null) {
  if (health === null || health.attemptedAt === null) return null;
  const { lastFailure } = health;
  return {
    consecutive_failures: health.consecutiveFailures,
    total_failures: health.totalFailures,
    total_successes: health.totalSuccesses,
    is_disabled: health.disabledAt !== null,
    disabled_at: nullableTimestamp(health.disabledAt),
    disabled_reason: health.disabledReason,
    last_failure:
      lastFailure === null
        ? null
        : {
            at: timestamp(lastFailure.at),
            event: lastFailure.event,
            delivery_id: lastFailure.deliveryId,
            attempt: lastFailure.attempt,
            kind: lastFailure.kind,
            status_code: lastFailure.statusCode,
            message: lastFailure.message,
            duration_ms: lastFailure.durationMs,
          },
    last_success_at: nullableTimestamp(health.lastSuccessAt),
    created_at: timestamp(health.attemptedAt),
    updated_at: timestamp(health.updatedAt),
  };
}

/** A delivery as the log shows it. Pure. */
export function deliveryView({ delivery, payload }: LoggedDelivery): Static<typeof DeliverySchema> {
  return {
    id: delivery.id,
    event: delivery.eventType,
    status: delivery.state,
    test: delivery.test,
    created_at: timestamp(delivery.createdAt),
    next_attempt_at: nullableTimestamp(delivery.dueAt),
    attempt_count: delivery.attempts,
    attempts: delivery.log.map((attempt) => ({
      attempt: attempt.number,
      at: timestamp(attempt.at),
      duration_ms: attempt.durationMs,
      status_code: attempt.statusCode,
      answer: attempt.answer,
      failure: attempt.failure,
    })),
    // Written as the text of a JSON object by whoever raised the event.
    payload: payload === null ? null : (JSON.parse(payload) as Json),
  };
}
