import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import type { LeasedReceiver, ReceiverLease, ReceiverRenewal } from '../contract.ts';

/** A process has room for receivers to which something is due. */
export interface ClaimInput {
  /** The broker's `processId`. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
  /** The receivers whose leases it already has. */
  readonly held: readonly string[];
}

/** What was won. */
export interface Claimed {
  readonly receivers: readonly LeasedReceiver[];
  /** The database's clock. */
  readonly now: number;
}

/** Takes receivers that are due and that nobody works at. */
export const claimLane: Lane<ClaimInput, Claimed> = {
  name: 'webhooks.claim',
  maxBatch: 1,
  locks: () => [],
  async run(unit, inputs) {
    const outputs: Claimed[] = [];
    for (const { owner, leaseMs, limit } of inputs) {
      const until = unit.now + leaseMs;
      const receivers = await unit.receivers.claimDue(owner, unit.now, until, limit);
      outputs.push({ receivers, now: unit.now });
    }
    return outputs;
  },
  async recover(unit, { owner, held }) {
    const heldIds = new Set(held);
    const owned = await unit.receivers.ownedBy(owner, unit.now);
    const receivers = owned.filter(({ receiver }) => !heldIds.has(receiver.id));
    return receivers.length === 0 ? undefined : { receivers, now: unit.now };
  },
};

/** The leases of one process that are to be renewed together. */
export interface RenewInput {
  readonly leases: readonly ReceiverLease[];
  readonly leaseMs: number;
}

/** Renews what nobody locks at this moment. */
export const renewLane: Lane<RenewInput, ReceiverRenewal> = {
  name: 'webhooks.renew',
  maxBatch: 1,
  locks: () => [],
  run: (unit, inputs) =>
    Promise.all(
      inputs.map(({ leases, leaseMs }) => unit.receivers.renew(leases, unit.now + leaseMs)),
    ),
};

/** A process has nothing more to do for a receiver, or stops. */
export interface ReleaseInput {
  readonly lease: ReceiverLease;
  /** Whether it goes even if something is due: another process is to do it. */
  readonly stopping: boolean;
}

/** Whether the lease is over, and when something falls due to the receiver; null: not before the next event. */
export interface Released {
  readonly over: boolean;
  readonly dueAt: number | null;
  readonly now: number;
}

/**
 * Ends leases to receivers to which nothing is due. What is fanned out meanwhile waits for the receiver's row, so
 * that it finds either the lease or the moment written here.
 */
export const releaseLane: Lane<ReleaseInput, Released> = {
  name: 'webhooks.release',
  locks: ({ lease }) => [`receiver:${lease.receiverId}`],
  run: release,
};

async function release(unit: Unit, inputs: readonly ReleaseInput[]): Promise<readonly Released[]> {
  const { now } = unit;
  const held = await unit.receivers.heldBy(inputs.map(({ lease }) => lease));
  const next = await unit.deliveries.nextDueAt([...held]);
  const outputs = inputs.map(({ lease, stopping }): Released => {
    const dueAt = next.get(lease.receiverId) ?? null;
    if (!held.has(lease.receiverId)) return { over: true, dueAt: null, now };
    return { over: stopping || dueAt === null || dueAt > now, dueAt, now };
  });
  await unit.receivers.release(
    inputs.flatMap(({ lease: { receiverId } }, index) => {
      const output = outputs[index];
      if (output === undefined || !output.over || !held.has(receiverId)) return [];
      return [{ receiverId, dueAt: output.dueAt }];
    }),
  );
  return outputs;
}
