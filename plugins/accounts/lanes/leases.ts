import type { Lane } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { AccountRow } from '../tables/account-rows.ts';

/** How many free sessions a process has room for. */
export interface SessionClaim {
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
  /** The accounts that are left to others; none when absent. */
  readonly except?: readonly string[];
}

/** A session whose lease was won. */
export interface ClaimedSession {
  readonly fence: LeaseToken;
  /** Undefined when the record is gone: the lease is to be ended. */
  readonly row: AccountRow | undefined;
}

/** Takes free and expired leases of sessions. */
export const claimSessionsLane: Lane<SessionClaim, readonly ClaimedSession[]> = {
  name: 'leases.claim',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit, claim) => {
    const fences = await unit.leases.rows.claim({ ...claim, now: unit.now });
    const found = await unit.accounts.find(fences.map((fence) => fence.id));
    const rows = new Map(found.map((row) => [row.id, row]));
    return fences.map((fence) => ({ fence, row: rows.get(fence.id) }));
  }),
};

/** Leases that a process gives up: `release` leaves them to another process, `end` to none. */
export interface GiveBackInput {
  readonly fences: readonly LeaseToken[];
  readonly how: 'release' | 'end';
}

/** Releases or ends leases; those of other processes by now are left alone. */
export const giveBackLane: Lane<GiveBackInput, null> = {
  name: 'leases.leave',
  locks: ({ fences }) => fences.map((fence) => `lease:${fence.id}` as const),
  run: oneByOne(async (unit, { fences, how }) => {
    await (how === 'release' ? unit.leases.rows.release(fences) : unit.leases.end(fences));
    return null;
  }),
};
