import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import type { Fence, Renewal } from '../contract.ts';
import type { AccountRow } from '../tables/accounts.ts';
import type { ProcessRow } from '../tables/processes.ts';

/** A process that has room looks for sessions that nobody holds. */
export interface ClaimInput {
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
}

/** A lease that was won. */
export interface Claimed {
  readonly fence: Fence;
  /** Undefined when the record is gone: the lease is to be ended. */
  readonly row: AccountRow | undefined;
}

/** Takes free and expired leases. */
export const claimLane: Lane<ClaimInput, readonly Claimed[]> = {
  name: 'leases.claim',
  maxBatch: 1,
  locks: () => [],
  run: async (unit, inputs) => {
    const outputs: Claimed[][] = [];
    for (const { owner, leaseMs, limit } of inputs) {
      const fences = await unit.leases.claimFree(owner, unit.now, unit.now + leaseMs, limit);
      const found = await unit.accounts.find(fences.map((fence) => fence.accountId));
      const rows = new Map(found.map((row) => [row.id, row]));
      outputs.push(fences.map((fence) => ({ fence, row: rows.get(fence.accountId) })));
    }
    return outputs;
  },
};

/** A process as its heartbeats show it: one that is alive has moved `seenAt` by the next heartbeat. */
export type Heartbeat = Pick<ProcessRow, 'id' | 'seenAt'>;

/** Whose place a process takes. */
export interface InheritInput {
  readonly owner: string;
  /** The name that the two have; null: whoever else held a lease is dead. */
  readonly name: string | null;
  /** Heartbeats read earlier: who has not beaten since is dead. */
  readonly read: readonly Heartbeat[];
}

/**
 * Frees the leases of dead processes whose place another takes, before they run out. Whoever claims them raises the
 * fence. Answers the heartbeats of all others of the name; of those that are stopping none, as they give their leases
 * away themselves.
 */
export const inheritLane: Lane<InheritInput, readonly Heartbeat[]> = {
  name: 'leases.inherit',
  maxBatch: 1,
  locks: () => [],
  run: async (unit, inputs) => {
    const outputs: (readonly Heartbeat[])[] = [];
    for (const { owner, name, read } of inputs) {
      if (name === null) {
        await unit.leases.expireOthers(owner);
        outputs.push([]);
        continue;
      }
      const named = await unit.processes.named(name);
      const others = named.filter(({ id, capacity }) => id !== owner && capacity > 0);
      const silent = new Map(read.map(({ id, seenAt }) => [id, seenAt]));
      const dead = others.flatMap(({ id, seenAt }) => (silent.get(id) === seenAt ? [id] : []));
      await unit.leases.expire(dead);
      await unit.processes.remove(dead);
      outputs.push(others);
    }
    return outputs;
  },
};

/** The leases of one process that are to be renewed. */
export interface RenewInput {
  readonly owner: string;
  readonly leaseMs: number;
  /** What the process believes to hold. */
  readonly fences: readonly Fence[];
}

/**
 * Renews all leases of a process by its own row, which no session locks, and answers which it has lost. A process that
 * takes expired leases locks that row first, so the leases read after the renewal cannot be taken until it expires.
 */
export const renewLane: Lane<RenewInput, Renewal> = {
  name: 'leases.renew',
  maxBatch: 1,
  locks: () => [],
  run: async (unit, inputs) => {
    const outputs: Renewal[] = [];
    for (const input of inputs) outputs.push(await renewOne(unit, input));
    return outputs;
  },
};

async function renewOne(unit: Unit, { owner, leaseMs, fences }: RenewInput): Promise<Renewal> {
  await unit.leases.renew(owner, unit.now + leaseMs);
  const owned = await unit.leases.ownedBy(owner);
  const ownedIds = new Set(owned.map((row) => row.accountId));
  const fallen = fences.filter(({ accountId }) => !ownedIds.has(accountId));
  const rows = await unit.leases.find(fallen.map(({ accountId }) => accountId));
  const ended = rows.filter((row) => !row.wanted && row.owner === owner);
  const revokedIds = new Set(ended.map((row) => row.accountId));
  // By number as well: a session that closes and the next one of its account are both believed to be held.
  const held = new Set(fences.map(keyOf));
  const all = owned.map(({ accountId, fence }) => ({ accountId, owner, number: fence }));
  return {
    lost: fallen.filter(({ accountId }) => !revokedIds.has(accountId)),
    revoked: fallen.filter(({ accountId }) => revokedIds.has(accountId)),
    unheld: all.filter((fence) => !held.has(keyOf(fence))),
  };
}

function keyOf({ accountId, number }: Fence): string {
  return `${accountId} ${number}`;
}

/** What a process does with leases it no longer wants: another may hold them, or nobody is to. */
export interface LeaveInput {
  readonly fences: readonly Fence[];
  readonly how: 'release' | 'end';
}

/** Gives leases away or ends them, those that still stand. */
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
