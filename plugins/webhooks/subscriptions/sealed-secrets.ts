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
      const found = await read.webhooks.sealedPage(column, after?.place[0] ?? '', limit);
      return found.map(({ id, tenantId, sealed }) => ({
        place: [id],
        context: signingSecretContext(id),
        sealed,
        lock: `tenant:${tenantId}`,
      }));
    },
    async replace(unit, changes) {
      const replaced = changes.map(({ value: { place, sealed: from }, sealed: to }) =>
        unit.webhooks.replaceSecret(column, place[0] ?? '', from, to),
      );
      await Promise.all(replaced);
    },
  };
}
