import { createHmac } from 'node:crypto';
import { type SigningSecrets, signingSecretBytes } from './subscriptions/secret.ts';

/**
 * The value of `X-Webhook-Signature` (specification: Signature): the version, then HMAC-SHA256 keyed with the
 * whole secret text over the timestamp, a dot and the body exactly as it is sent. Pure.
 * @param timestamp the value of `X-Webhook-Timestamp`, Unix seconds
 */
export function signature(secret: string, timestamp: number, body: string): string {
  const hash = createHmac('sha256', secret).update(`${timestamp}.${body}`, 'utf8').digest('hex');
  return `v1=${hash}`;
}

/**
 * The value of `webhook-signature`, as Standard Webhooks defines it: for the current and the previous secret `v1,` and
 * the HMAC-SHA256, keyed with the secret's bytes, over id, timestamp and body with dots between, in base64. Pure.
 * @param id the value of `webhook-id`
 * @param timestamp the value of `webhook-timestamp`, Unix seconds
 */
export function standardSignature(
  { current, previous }: SigningSecrets,
  id: string,
  timestamp: number,
  body: string,
): string {
  return [current, ...(previous === null ? [] : [previous])]
    .map((secret) => {
      const hmac = createHmac('sha256', signingSecretBytes(secret));
      return `v1,${hmac.update(`${id}.${timestamp}.${body}`, 'utf8').digest('base64')}`;
    })
    .join(' ');
}
