import type { SealedSource } from '../../secrets/contract.ts';
import { signingSecretContext } from './secret.ts';

/** Signing secrets of all subscriptions, for resealing. */
export const sealedSigningSecrets: SealedSource = {
  name: 'signing secrets',
  async page(read, after, limit) {
    const found = await read.webhooks.sealedPage(after?.place[0] ?? '', limit);
    return found.map(({ id, tenantId, sealed }) => ({
      place: [id],
      context: signingSecretContext(id),
      sealed,
      lock: `tenant:${tenantId}`,
    }));
  },
  async replace(unit, changes) {
    const replaced = changes.map(({ value: { place, sealed: from }, sealed: to }) =>
      unit.webhooks.replaceSecret(place[0] ?? '', from, to),
    );
    await Promise.all(replaced);
  },
};
