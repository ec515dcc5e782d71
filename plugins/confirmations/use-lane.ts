import type { Lane } from '../../core/contracts/storage.ts';
import { pruneLane } from '../../core/pruning.ts';

/** A person's answer, and the call that comes with it. */
export interface Use {
  readonly nonce: string;
  /** Made by the call, so that a repeat finds itself. */
  readonly callId: string;
}

/** Uses answers, each for one call: true for the first that comes with it. The table's key decides between processes. */
export const useConfirmations: Lane<Use, boolean> = {
  name: 'confirmations.use',
  locks: () => [],
  run: async (unit, uses) => {
    await unit.confirmations.use(uses.map((use) => ({ ...use, usedAt: unit.now })));
    const calls = await unit.confirmations.calls(uses.map(({ nonce }) => nonce));
    return uses.map(({ nonce, callId }) => calls.get(nonce) === callId);
  },
};

/** Deletes used answers whose questions have long expired. */
export const pruneConfirmations = pruneLane(
  'confirmations.prune',
  ({ confirmations }, { before, limit }) => confirmations.deleteBefore(before, limit),
);
