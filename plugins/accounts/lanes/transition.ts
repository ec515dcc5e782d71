import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import { ownsNumber } from '../account-state.ts';
import { withoutPastHold } from '../restrictions.ts';
import { accountTransition } from '../status.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import type { AccountTrigger } from '../transitions.ts';
import { claimKey, TransitionBatch, type TransitionParts } from './transition-batch.ts';

/** A trigger for an account whose session this process holds. */
export interface TransitionInput {
  readonly fence: LeaseToken;
  readonly trigger: AccountTrigger;
  /** How many tries to connect have failed before it; 0 when absent. */
  readonly tries?: number;
}

export type TransitionOutput =
  /** The row after it; `refused` when the trigger does not apply in the account's status. */
  | { readonly kind: 'done' | 'refused' | 'claimed_elsewhere'; readonly row: AccountRow }
  /** The lease is no longer this session's: nothing was changed. */
  | { readonly kind: 'fenced'; readonly removed: boolean };

/** Status transitions by the holders of the sessions. One that ends the link ends the lease with it. */
export function transitionLane(parts: TransitionParts): Lane<TransitionInput, TransitionOutput> {
  return {
    name: 'accounts.transition',
    locks: ({ fence }) => [`lease:${fence.id}`],
    run: async (unit, inputs) => {
      const held = await unit.leases.rows.heldBy(inputs.map((input) => input.fence));
      const ids = [...new Set(inputs.map((input) => input.fence.id))];
      const batch = new TransitionBatch(unit, parts, await unit.accounts.find(ids));
      const givenUp = await findGivenUp(unit, inputs, held, batch);
      const won = await unit.accounts.claim(claimsOf(inputs, held, batch));
      const ended: LeaseToken[] = [];
      const outputs = inputs.map(({ fence, trigger, tries }): TransitionOutput => {
        const row = batch.row(fence.id);
        if (row !== undefined && row.removedAt === null && givenUp.has(row.id)) {
          return { kind: 'claimed_elsewhere', row };
        }
        // An earlier input of the batch may have ended this link.
        if (row === undefined || row.removedAt !== null || !held.has(fence)) {
          return { kind: 'fenced', removed: row?.removedAt != null };
        }
        let decided = accountTransition(withoutPastHold(row, unit.now), trigger);
        if (decided === null) return { kind: 'refused', row };
        const links = !ownsNumber(row) && ownsNumber(decided.state);
        const taken = links && !won.has(row.id);
        if (taken) decided = accountTransition(row, { type: 'claimed_elsewhere' }) ?? decided;
        const after = batch.add(row, decided, { tries });
        if (after.status === 'disconnected') ended.push(fence);
        return { kind: taken ? 'claimed_elsewhere' : 'done', row: after };
      });
      await batch.write();
      await unit.leases.end(ended);
      return outputs;
    },
  };
}

/** The accounts whose link an earlier run of these inputs has given up: its COMMIT is stored, the answer to it was lost. */
async function findGivenUp(
  unit: Unit,
  inputs: readonly TransitionInput[],
  held: ReadonlySet<LeaseToken>,
  batch: TransitionBatch,
): Promise<ReadonlySet<string>> {
  const lost = inputs.flatMap(({ fence, trigger }) => {
    const isConflict = batch.row(fence.id)?.reason === 'conflict';
    return trigger.type === 'connected' && isConflict && !held.has(fence) ? fence : [];
  });
  const leases = await unit.leases.rows.find(lost.map(({ id }) => id));
  const ended = leases.filter((lease) =>
    lost.some(
      ({ id, number }) => id === lease.id && lease.owner === null && lease.fence === number,
    ),
  );
  return new Set(ended.map(({ id }) => id));
}

/** The numbers that these triggers link. */
function claimsOf(
  inputs: readonly TransitionInput[],
  held: ReadonlySet<LeaseToken>,
  batch: TransitionBatch,
) {
  const claims = new Map<string, string>();
  for (const { fence, trigger } of inputs) {
    const row = batch.row(fence.id);
    if (row === undefined || trigger.type !== 'connected' || !held.has(fence)) continue;
    if (!ownsNumber(row) && row.status === 'connecting') claims.set(row.id, claimKey(row));
  }
  return [...claims].map(([id, key]) => ({ id, key }));
}
