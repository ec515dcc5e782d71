import type { WebhookBody } from './events.ts';

/** What a delivery carries in its headers, of any platform's kind. */
export type WebhookHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A delivery is not genuine, too old, or not signed. */
export class InvalidWebhook extends Error {
  override readonly name = 'InvalidWebhook';
}

/** How a delivery is checked. */
export interface VerifyOptions {
  /** How far the signature's time may be away, in seconds. Default: 300. */
  readonly toleranceS?: number;
  /** Milliseconds since the Unix epoch. Default: now. */
  readonly now?: number;
}

/**
 * Verifies a delivery and answers its parsed body, by the headers of Standard Webhooks (`webhook-id`,
 * `webhook-timestamp`, `webhook-signature`). For 24 hours after a rotation both the old and the new secret verify.
 * @param secret the subscription's secret, `whsec_…`
 * @param body the raw body, exactly as it came
 * @throws InvalidWebhook; TypeError when the secret is not one
 */
export async function verifyWebhook(
  secret: string,
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceS = 300, now = Date.now() }: VerifyOptions = {},
): Promise<WebhookBody> {
  const [id, timestamp, signatures] = ['id', 'timestamp', 'signature'].map((name) =>
    headerOf(headers, `webhook-${name}`),
  );
  if (id == null || timestamp == null || signatures == null) {
    throw new InvalidWebhook('the delivery is not signed');
  }
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= toleranceS)) {
    throw new InvalidWebhook('the signature is too old, or from the future');
  }
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytesOfSecret(secret), algorithm, false, [
    'verify',
  ]);
  const signed = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const signature of signatures.split(' ')) {
    const [version, base64 = ''] = signature.split(',');
    const bytes = version === 'v1' ? bytesOf(base64) : null;
    // Compares in constant time.
    if (bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
      return JSON.parse(text);
    }
  }
  throw new InvalidWebhook('the signature is not of this secret');
}

function bytesOfSecret(secret: string): Uint8Array<ArrayBuffer> {
  const bytes = secret.startsWith('whsec_') ? bytesOf(secret.slice('whsec_'.length)) : null;
  if (bytes === null) throw new TypeError('a signing secret is "whsec_" and base64');
  return bytes;
}

/** What base64 or base64url means; null for anything else. */
function bytesOf(text: string): Uint8Array<ArrayBuffer> | null {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name);
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof entry === 'string' ? entry : (entry?.[0] ?? null);
}
