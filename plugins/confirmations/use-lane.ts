import type { Lane } from '../../core/contracts/storage.ts';
import { pruneLane } from '../../core/pruning.ts';

/** A person's answer. */
export interface Use {
  readonly nonce: string;
  /** What it was, or an id of the call that comes with it, where no other call may bring the same. */
  readonly answer: string;
}

/** Uses answers: true for the first, and for what repeats it. The table's key decides between processes. */
export const useConfirmations: Lane<Use, boolean> = {
  name: 'confirmations.use',
  locks: () => [],
  run: async (unit, uses) => {
    await unit.confirmations.use(uses.map((use) => ({ ...use, usedAt: unit.now })));
    const answers = await unit.confirmations.answers(uses.map(({ nonce }) => nonce));
    return uses.map(({ nonce, answer }) => answers.get(nonce) === answer);
  },
};

/** Deletes used answers whose questions have long expired. */
export const pruneConfirmations = pruneLane(
  'confirmations.prune',
  ({ confirmations }, { before, limit }) => confirmations.deleteBefore(before, limit),
);
