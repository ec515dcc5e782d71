import { randomBytes } from 'node:crypto';
import type { Webhook } from '../tables/webhook-rows.ts';

const prefix = 'whsec_';

/** A new signing secret: `whsec_` and 32 random bytes in base64, as Standard Webhooks has them. */
export function newSigningSecret(): string {
  return `${prefix}${randomBytes(32).toString('base64')}`;
}

/** The bytes that a signing secret means, in base64 or, as in older ones, in base64url. Pure. */
export function signingSecretBytes(secret: string): Buffer {
  return Buffer.from(secret.slice(prefix.length), 'base64');
}

/** The opened secrets of a subscription. */
export interface SigningSecrets {
  readonly current: string;
  /** The one before the last rotation, until its time is over; else null. */
  readonly previous: string | null;
}

/** Context of a subscription's secret for `secrets.seal` and `secrets.open`. Pure. */
export function signingSecretContext(webhookId: string): string {
  return `webhook:${webhookId}`;
}

/** A subscription with its sealed secrets. */
export type SignedWebhook = Pick<Webhook, 'id' | 'sealedSecret' | 'previousSecret'>;

/**
 * The secrets of a subscription at a time; null while signing is off. A former secret that cannot be opened counts as
 * none: a rotation mends a subscription that could not sign.
 * @param now milliseconds since the Unix epoch
 * @param open opens a sealed secret; its errors with the current one are passed to the caller
 */
export function signingSecretsOf(
  { sealedSecret, previousSecret: previous }: SignedWebhook,
  now: number,
  open: (sealed: string) => string,
): SigningSecrets | null {
  if (sealedSecret === null) return null;
  const isValid = previous !== null && now < previous.until;
  const current = open(sealedSecret);
  return { current, previous: isValid ? openedBefore(previous.sealed, open) : null };
}

/** A secret that was replaced, opened; null when it cannot be. */
export function openedBefore(sealed: string, open: (sealed: string) => string): string | null {
  try {
    return open(sealed);
  } catch {
    return null;
  }
}
