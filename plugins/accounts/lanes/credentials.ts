import type { Lane } from '../../../core/contracts/storage.ts';
import type { Fence } from '../contract.ts';
import type { SealedCredential } from '../tables/credentials.ts';

/** One call of a session's credential store: all of it or nothing. */
export interface CredentialInput {
  readonly fence: Fence;
  /** Delete everything first. */
  readonly clear: boolean;
  readonly put: readonly SealedCredential[];
  readonly delete: readonly string[];
}

/** Writes credentials of sessions that still hold their lease; answers whether it did. */
export const credentialLane: Lane<CredentialInput, boolean> = {
  name: 'accounts.credentials',
  locks: ({ fence }) => [`lease:${fence.accountId}`],
  run: async (unit, inputs) => {
    const held = await unit.leases.heldBy(inputs.map((input) => input.fence));
    for (const input of inputs) {
      const { accountId } = input.fence;
      if (!held.has(accountId)) continue;
      if (input.clear) await unit.credentials.clear([accountId]);
      await unit.credentials.delete(accountId, input.delete);
      await unit.credentials.put(input.put);
    }
    return inputs.map((input) => held.has(input.fence.accountId));
  },
};
