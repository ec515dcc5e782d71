import { withFreshMedia } from '../../../core/media-reference.ts';
import { attempt } from '../attempt.ts';
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
 */
export async function send(
  parts: SendingParts,
  { delivery, webhook, event }: ReadyAttempt,
): Promise<Attempt> {
  const { egress, clock, settings, secrets, log, mint } = parts;
  const { timeoutMs, connectTimeoutMs } = settings;
  const number = delivery.attempts + 1;
  let opened: SigningSecrets | null = null;
  try {
    opened = secrets.of(webhook, clock.now());
  } catch (error) {
    log.error({ err: error, webhook: webhook.id }, 'a signing secret cannot be opened');
    const message = 'The gateway cannot open the signing secret: nothing was sent.';
    const failure = { kind: 'blocked', message } as const;
    return { number, at: clock.now(), durationMs: 0, statusCode: null, answer: '', failure };
  }
  return attempt(
    { egress, clock, timeoutMs, connectTimeoutMs },
    {
      url: webhook.url,
      event: delivery.eventType,
      deliveryId: delivery.id,
      number,
      payload: withFreshMedia(event.payload, mint),
      secrets: opened,
      trace: event.trace,
    },
  );
}
