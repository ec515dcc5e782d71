import type { Lane } from '../../../core/contracts/storage.ts';
import type { Fence } from '../contract.ts';
import type { AccountRow } from '../tables/accounts.ts';

/** A process has room for sessions that nobody holds. */
export interface SessionClaim {
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
}

/** A session's lease that was won. */
export interface ClaimedSession {
  readonly fence: Fence;
  /** Undefined when the record is gone: the lease is to be ended. */
  readonly row: AccountRow | undefined;
}

/** Takes free and expired leases of sessions. */
export const claimSessionsLane: Lane<SessionClaim, readonly ClaimedSession[]> = {
  name: 'leases.claim',
  maxBatch: 1,
  locks: () => [],
  run: async (unit, inputs) => {
    const outputs: ClaimedSession[][] = [];
    for (const { owner, leaseMs, limit } of inputs) {
      const { now } = unit;
      const fences = await unit.leases.claim({ owner, now, expiresAt: now + leaseMs, limit });
      const found = await unit.accounts.find(fences.map((fence) => fence.accountId));
      const rows = new Map(found.map((row) => [row.id, row]));
      outputs.push(fences.map((fence) => ({ fence, row: rows.get(fence.accountId) })));
    }
    return outputs;
  },
};

/** What a process does with leases it no longer wants: another may hold them, or nobody is to. */
export interface LeaveInput {
  readonly fences: readonly Fence[];
  readonly how: 'release' | 'end';
}

/** Gives leases away or ends them, those that are still its own. */
export const leaveLane: Lane<LeaveInput, null> = {
  name: 'leases.leave',
  locks: ({ fences }) => fences.map((fence) => `lease:${fence.accountId}` as const),
  run: async (unit, inputs) => {
    for (const { fences, how } of inputs) {
      await (how === 'release' ? unit.leases.release(fences) : unit.leases.end(fences));
    }
    return inputs.map(() => null);
  },
};
