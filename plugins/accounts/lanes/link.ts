import type { Lane } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import { isPairing } from '../account-state.ts';

/** A link for the owner of an account's phone. */
export interface LinkInput {
  readonly accountId: string;
  /** SHA-256 of its token, hex. */
  readonly tokenHash: string;
  readonly lifeMs: number;
}

/** When the link ends, milliseconds since the Unix epoch; null: the account is not being linked. */
export type LinkOutput = number | null;

/** Gives an account that is being linked a link for its owner, in place of an earlier one. */
export const linkLane: Lane<LinkInput, LinkOutput> = {
  name: 'accounts.link',
  maxBatch: 16,
  locks: ({ accountId }) => [`lease:${accountId}`],
  run: oneByOne(async (unit, { accountId, tokenHash, lifeMs }) => {
    const [row] = await unit.accounts.find([accountId]);
    const isOpen = row !== undefined && row.removedAt === null && isPairing(row);
    const expiresAt = unit.now + lifeMs;
    if (isOpen) await unit.links.put(accountId, tokenHash, expiresAt);
    return isOpen ? expiresAt : null;
  }),
};
