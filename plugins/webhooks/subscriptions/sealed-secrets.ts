import type { SealedSource } from '../../secrets/contract.ts';
import type { SecretColumn } from '../tables/webhook-rows.ts';
import { signingSecretContext } from './secret.ts';

/** Signing secrets of all subscriptions, for resealing. */
export const sealedSigningSecrets = sourceOf('secret', 'signing secrets');

/** Those before the last rotation. */
export const sealedPreviousSecrets = sourceOf('previous_secret', 'previous signing secrets');

function sourceOf(column: SecretColumn, name: string): SealedSource {
  return {
    name,
    async page(read, after, limit) {
      const found = await read.webhooks.sealedPage(column, after?.position[0] ?? '', limit);
      return found.map(({ id, tenantId, sealed }) => ({
        position: [id],
        context: signingSecretContext(id),
        sealed,
        lock: `tenant:${tenantId}`,
      }));
    },
    async replace(unit, changes) {
      const replaced = changes.map(({ value: { position, sealed: from }, sealed: to }) =>
        unit.webhooks.replaceSecret(column, position[0] ?? '', from, to),
      );
      await Promise.all(replaced);
    },
  };
}
