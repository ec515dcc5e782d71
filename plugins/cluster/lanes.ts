import type { Lane, Unit } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import { writeLane } from '../../core/write-lane.ts';
import type { ClusterProcess, LeaseHolder, LeaseKind, LeaseToken } from './contract.ts';

/** Rows of dead processes are deleted after this. */
const forgottenAfterMs = 60_000;

/** Stores this process's heartbeat by the database's clock. */
export const beatLane = writeLane<Omit<ClusterProcess, 'seenAt'>>(
  'processes.beat',
  async ({ processes, now }, inputs) => {
    await processes.beat(inputs.map((input) => ({ ...input, seenAt: now })));
    await processes.settle(now - forgottenAfterMs, now);
  },
);

/** Deletes a process that stops, and frees the leases that it could not release. */
export const goneLane = writeLane<string>('processes.gone', async (unit, inputs) => {
  await unit.leaseHolders.expire(inputs);
  await unit.processes.remove(inputs);
});

/** A process as its heartbeats show it: a living one has a later `seenAt` by the next heartbeat. */
export type Heartbeat = Pick<ClusterProcess, 'id' | 'seenAt'>;

/** The process that another replaces. */
export interface InheritInput {
  readonly owner: string;
  /** The name that the two have; null: every other owner of a lease is dead. */
  readonly name: string | null;
  /** Heartbeats read earlier: a process without a later one is dead. */
  readonly read: readonly Heartbeat[];
}

/**
 * Frees the leases of dead processes that another replaces, before they run out; a claim then raises the fence. Answers
 * the heartbeats of all others of the name, without those that are stopping: they release their leases themselves.
 */
export const inheritLane: Lane<InheritInput, readonly Heartbeat[]> = {
  name: 'leases.inherit',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit, { owner, name, read }) => {
    if (name === null) {
      await unit.leaseHolders.expireOthers(owner);
      return [];
    }
    const named = await unit.processes.named(name);
    const others = named.filter(({ id, capacity }) => id !== owner && capacity > 0);
    const silent = new Map(read.map(({ id, seenAt }) => [id, seenAt]));
    const dead = others.flatMap(({ id, seenAt }) => (silent.get(id) === seenAt ? [id] : []));
    await unit.leaseHolders.expire(dead);
    await unit.processes.remove(dead);
    return others;
  }),
};

/** A holder of leases as another process read it: unchanged for long enough to be dead, or only if it has expired. */
export interface SilentHolder extends LeaseHolder {
  readonly isDead: boolean;
}

/** Frees the leases of holders that have not renewed them since they were read; answers whether there were any. */
export const freeSilentLane: Lane<readonly SilentHolder[], boolean> = {
  name: 'leases.free',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit, holders) => {
    const dead = holders.filter(({ isDead, expiresAt }) => isDead || expiresAt <= unit.now);
    const unchanged = await unit.leaseHolders.lockUnchanged(dead);
    await unit.leaseHolders.expire(unchanged);
    return unchanged.length > 0;
  }),
};

/** The leases of one kind that a process believes to own. */
export interface HeldLeases {
  readonly kind: Pick<LeaseKind, 'rows'>;
  readonly held: readonly LeaseToken[];
}

/** The leases of one process, all of which are to be renewed. */
export interface RenewInput {
  readonly owner: string;
  readonly leaseMs: number;
  readonly kinds: readonly HeldLeases[];
}

/** The differences between the leases of a kind that a process owns, all renewed, and those that it believed to own. */
export type Renewal = Readonly<Record<'lost' | 'revoked' | 'unheld', readonly LeaseToken[]>>;

/**
 * Renews all leases of a process by its own row, which no other process locks while it lives, and answers the losses of
 * each kind. A claim locks that row first, and only once it was freed: the leases read after the renewal stay until then.
 */
export const renewLane: Lane<RenewInput, readonly Renewal[]> = {
  name: 'leases.renew',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit, { owner, leaseMs, kinds }) => {
    await unit.leaseHolders.renew(owner, unit.now + leaseMs, leaseMs);
    return await Promise.all(kinds.map((kind) => compare(unit, owner, kind)));
  }),
};

async function compare(unit: Unit, owner: string, { kind, held }: HeldLeases): Promise<Renewal> {
  const rows = kind.rows(unit);
  const owned = await rows.ownedBy(owner);
  const ownedIds = new Set(owned.map(({ id }) => id));
  const fallen = held.filter(({ id }) => !ownedIds.has(id));
  const found = await rows.find(fallen.map(({ id }) => id));
  const rowOf = new Map(found.map((row) => [row.id, row]));
  const revoked = fallen.filter(({ id }) => {
    const row = rowOf.get(id);
    return row?.wanted === false && row.owner === owner;
  });
  // This process ended the lease itself: whoever ended the lease closes the session.
  const isEndedHere = ({ id, number }: LeaseToken) => {
    const row = rowOf.get(id);
    return row?.wanted === false && row.owner === null && row.fence === number;
  };
  const numbers = new Map(held.map(({ id, number }) => [id, number]));
  // A lease being released and the next one of its row are both believed to be held.
  const isHeld = (lease: LeaseToken) =>
    numbers.get(lease.id) === lease.number || held.some((one) => isSame(one, lease));
  return {
    lost: fallen.filter((lease) => !revoked.includes(lease) && !isEndedHere(lease)),
    revoked,
    unheld: owned.filter((lease) => !isHeld(lease)),
  };
}

function isSame(one: LeaseToken, other: LeaseToken): boolean {
  return one.id === other.id && one.number === other.number;
}
