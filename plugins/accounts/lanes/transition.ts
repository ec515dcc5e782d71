import type { Lane } from '../../../core/contracts/storage.ts';
import type { Fence } from '../contract.ts';
import { type Happening, holdsNumber, move } from '../status.ts';
import type { AccountRow } from '../tables/accounts.ts';
import { claimKey, type MoveParts, Moves } from './apply.ts';

/** Something that happened to an account whose session this process holds. */
export interface TransitionInput {
  readonly fence: Fence;
  readonly happening: Happening;
  /** How many tries to connect have failed before it; 0 when absent. */
  readonly tries?: number;
}

export type TransitionOutput =
  /** The row after it; `refused` when the happening has no place in the account's status. */
  | { readonly kind: 'done' | 'refused' | 'claimed_elsewhere'; readonly row: AccountRow }
  /** The lease is no longer this session's: nothing was changed. */
  | { readonly kind: 'fenced'; readonly removed: boolean };

/** Moves of accounts by those who hold their sessions. A move that ends the link ends the lease with it. */
export function transitionLane(parts: MoveParts): Lane<TransitionInput, TransitionOutput> {
  return {
    name: 'accounts.transition',
    locks: ({ fence }) => [`lease:${fence.accountId}`],
    run: async (unit, inputs) => {
      const held = await unit.leases.heldBy(inputs.map((input) => input.fence));
      const ids = [...new Set(inputs.map((input) => input.fence.accountId))];
      const moves = new Moves(unit, parts, await unit.accounts.find(ids));
      const won = await unit.accounts.claim(claimsOf(inputs, held, moves));
      const ended: Fence[] = [];
      const outputs = inputs.map(({ fence, happening, tries }): TransitionOutput => {
        const row = moves.row(fence.accountId);
        // An earlier input of the batch may have ended this link.
        if (row === undefined || row.removedAt !== null || !held.has(row.id)) {
          return { kind: 'fenced', removed: row?.removedAt != null };
        }
        let decided = move(row, happening);
        if (decided === null) return { kind: 'refused', row };
        const links = !holdsNumber(row) && holdsNumber(decided.state);
        const taken = links && !won.has(row.id);
        if (taken) decided = move(row, { type: 'claimed_elsewhere' }) ?? decided;
        const after = moves.take(row, decided, { tries });
        if (after.status === 'disconnected') ended.push(fence);
        return { kind: taken ? 'claimed_elsewhere' : 'done', row: after };
      });
      await moves.write();
      await unit.leases.end(ended);
      return outputs;
    },
  };
}

/** The numbers of those who are about to be linked. */
function claimsOf(inputs: readonly TransitionInput[], held: ReadonlySet<string>, moves: Moves) {
  const claims = new Map<string, string>();
  for (const { fence, happening } of inputs) {
    const row = moves.row(fence.accountId);
    if (row === undefined || happening.type !== 'connected' || !held.has(row.id)) continue;
    if (!holdsNumber(row) && row.status === 'connecting') claims.set(row.id, claimKey(row));
  }
  return [...claims].map(([id, key]) => ({ id, key }));
}
