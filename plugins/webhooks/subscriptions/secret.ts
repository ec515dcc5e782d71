import { randomBytes } from 'node:crypto';

/** A new signing secret: `whsec_` and 32 random bytes in base64url. The HMAC key is that whole text. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`;
}

/** Where a subscription's secret is stored, as `secrets.seal` and `secrets.open` want to know it. Pure. */
export function signingSecretContext(webhookId: string): string {
  return `webhook:${webhookId}`;
}
