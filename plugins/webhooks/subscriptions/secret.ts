import { randomBytes } from 'node:crypto';

/** A new signing secret: `whsec_` and 32 random bytes in base64url. The HMAC key is that whole text. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** Context of a subscription's secret for `secrets.seal` and `secrets.open`. Pure. */
export function signingSecretContext(webhookId: string): string {
  return `webhook:${webhookId}`;
}
