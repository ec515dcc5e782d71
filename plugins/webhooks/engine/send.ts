import { withFreshMedia } from '../../../core/media-reference.ts';
import { type AttemptRequest, attempt, attemptHeaders, unsentAttempt } from '../attempt.ts';
import { callbackHeaders, eventBody, mostBodyBytes } from '../event-subscriptions/rendering.ts';
import type { SigningSecrets } from '../subscriptions/secret.ts';
import type { Attempt } from '../tables/delivery-rows.ts';
import type { ReadyAttempt } from './due-batches.ts';
import type { OpenedSecrets } from './opened-secrets.ts';
import type { EngineParts } from './parts.ts';

/** Dependencies of an attempt. */
export type SendingParts = Pick<EngineParts, 'egress' | 'clock' | 'settings' | 'log' | 'mint'> & {
  readonly secrets: OpenedSecrets;
};

/**
 * Makes the next attempt of a delivery. When the secret cannot be opened nothing is sent, rather than unsigned. Never
 * rejects.
 * @param at now, by the database's clock
 * @param signal aborts the attempt, which then is a failure
 */
export async function send(
  parts: SendingParts,
  ready: ReadyAttempt,
  at: number,
  signal: AbortSignal,
): Promise<Attempt> {
  const { egress, clock, settings, secrets, log, mint } = parts;
  const { timeoutMs, connectTimeoutMs } = settings;
  const { delivery, webhook, event } = ready;
  const number = delivery.attempts + 1;
  let opened: SigningSecrets | null = null;
  try {
    opened = secrets.of(webhook, at);
  } catch (error) {
    log.error({ err: error, webhook: webhook.id }, 'a signing secret cannot be opened');
    const message = 'The gateway cannot open the signing secret: nothing was sent.';
    return unsentAttempt(number, at, message, 'retried');
  }
  const payload = withFreshMedia(event.payload, mint);
  const request = { ...requestOf(ready, number, payload, opened), at };
  if (webhook.grant !== null && Buffer.byteLength(request.payload) > mostBodyBytes) {
    const message = `The body has more than ${mostBodyBytes} bytes: nothing was sent.`;
    return unsentAttempt(number, at, message, 'final');
  }
  return attempt({ egress, clock, timeoutMs, connectTimeoutMs }, request, signal);
}

/** The request in the form of its subscription: that of webhooks, or of MCP Events. */
function requestOf(
  { delivery, webhook, event }: ReadyAttempt,
  number: number,
  payload: string,
  secrets: SigningSecrets | null,
): Omit<AttemptRequest, 'at'> {
  const { url, grant } = webhook;
  const { id: deliveryId, eventId, eventType } = delivery;
  const common = { url, event: eventType, deliveryId, number, trace: event.trace };
  if (grant === null || secrets === null) {
    const contents = { ...common, payload, secrets };
    return { ...common, payload, headersAt: (timestamp) => attemptHeaders(contents, timestamp) };
  }
  const body = eventBody(delivery, { payload, createdAt: event.createdAt });
  const message = { subscriptionId: webhook.id, id: eventId, body, secrets };
  return { ...common, payload: body, headersAt: (at) => callbackHeaders(message, at) };
}
