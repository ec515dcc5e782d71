import type { Lane } from '../../../core/contracts/storage.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { SealedCredential } from '../tables/credentials.ts';

/** One call of a session's credential store: all of it or nothing. */
export interface CredentialInput {
  readonly fence: LeaseToken;
  /** Delete everything first. */
  readonly clear: boolean;
  readonly put: readonly SealedCredential[];
  readonly delete: readonly string[];
}

/** Writes the credentials of a session that still has its lease; answers whether it did. */
export const credentialLane: Lane<CredentialInput, boolean> = {
  name: 'accounts.credentials',
  locks: ({ fence }) => [`lease:${fence.id}`],
  run: async (unit, inputs) => {
    const held = await unit.leases.rows.heldBy(inputs.map((input) => input.fence));
    for (const input of inputs) {
      const { id: accountId } = input.fence;
      if (!held.has(input.fence)) continue;
      if (input.clear) await unit.credentials.clear([accountId]);
      await unit.credentials.delete(accountId, input.delete);
      await unit.credentials.put(input.put);
    }
    return inputs.map((input) => held.has(input.fence));
  },
};
