import { createHmac } from 'node:crypto';

/**
 * The value of `X-Webhook-Signature` (specification: Signature): the version, then HMAC-SHA256 keyed with the
 * whole secret text over the timestamp, a dot and the body exactly as it is sent. Pure.
 * @param timestamp the value of `X-Webhook-Timestamp`, Unix seconds
 */
export function signature(secret: string, timestamp: number, body: string): string {
  const hash = createHmac('sha256', secret).update(`${timestamp}.${body}`, 'utf8').digest('hex');
  return `v1=${hash}`;
}
