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
 * Verifies a delivery and answers its parsed body. The signature is the one of the specification's "Signature":
 * HMAC-SHA256, keyed with the whole secret, of the timestamp, a dot and the raw body.
 * @param secrets the subscription's secret; several while you rotate
 * @param body the raw body, exactly as it came
 * @throws InvalidWebhook
 */
export async function verifyWebhook(
  secrets: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceS = 300, now = Date.now() }: VerifyOptions = {},
): Promise<unknown> {
  const timestamp = headerOf(headers, 'x-webhook-timestamp');
  const signature = headerOf(headers, 'x-webhook-signature');
  if (timestamp === null || signature === null)
    throw new InvalidWebhook('the delivery is not signed');
  if (!(Math.abs(now / 1000 - Number(timestamp)) <= toleranceS)) {
    throw new InvalidWebhook('the signature is too old, or from the future');
  }
  const raw = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const prefix = new TextEncoder().encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + raw.length);
  signed.set(prefix);
  signed.set(raw, prefix.length);
  const given = bytesOf(signature);
  for (const secret of typeof secrets === 'string' ? [secrets] : secrets) {
    if (given !== null && (await isSignedWith(secret, given, signed))) {
      return JSON.parse(new TextDecoder().decode(raw));
    }
  }
  throw new InvalidWebhook('the signature is not of this secret');
}

async function isSignedWith(
  secret: string,
  signature: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const bytes = new TextEncoder().encode(secret);
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['verify']);
  // Compares in constant time.
  return crypto.subtle.verify('HMAC', key, signature, signed);
}

/** The bytes of `v1=` and 64 hexadecimal digits; null for anything else. */
function bytesOf(signature: string): Uint8Array<ArrayBuffer> | null {
  const [, digits] = /^v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (digits === undefined) return null;
  return Uint8Array.from({ length: 32 }, (_, n) =>
    Number.parseInt(digits.slice(2 * n, 2 * n + 2), 16),
  );
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if ('get' in headers && typeof headers.get === 'function') return headers.get(name);
  const entry = Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  return typeof entry === 'string' ? entry : (entry?.[0] ?? null);
}
