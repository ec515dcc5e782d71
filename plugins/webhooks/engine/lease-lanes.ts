import type { Lane, Unit } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import type { LeaseToken } from '../../cluster/contract.ts';
import type { LeasedReceiver } from '../tables/receiver-rows.ts';

/** Claim of a process on receivers to which something is due. */
export interface ReceiverClaim {
  /** The broker's `processId`. */
  readonly owner: string;
  readonly leaseMs: number;
  readonly limit: number;
}

/** Receivers with the leases that were won. */
export interface ClaimedReceivers {
  readonly receivers: readonly LeasedReceiver[];
  /** The database's clock. */
  readonly now: number;
}

/** Lane that claims receivers which are due and free. */
export const claimReceiversLane: Lane<ReceiverClaim, ClaimedReceivers> = {
  name: 'webhooks.claim',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit, claim) => {
    const { now } = unit;
    const leases = await unit.receivers.leases.claim({ ...claim, now });
    const won = new Map(leases.map((lease) => [lease.id, lease]));
    const found = await unit.receivers.find([...won.keys()]);
    const receivers = found.flatMap((receiver) => {
      const lease = won.get(receiver.id);
      return lease === undefined ? [] : [{ receiver, lease }];
    });
    return { receivers, now };
  }),
};

/** Release of a receiver by a process. */
export interface ReceiverRelease {
  readonly lease: LeaseToken;
  /** Whether the lease ends even if something is due, for another process to claim. */
  readonly stopping: boolean;
}

/** Whether the lease has ended, and when something falls due to the receiver; null: not before the next event. */
export interface ReleasedReceiver {
  readonly over: boolean;
  readonly dueAt: number | null;
  readonly now: number;
}

/**
 * Lane that ends leases of receivers to which nothing is due. A concurrent fan-out waits for the receiver's row and
 * finds either the lease or the due time written here.
 */
export const releaseReceiversLane: Lane<ReceiverRelease, ReleasedReceiver> = {
  name: 'webhooks.release',
  locks: ({ lease }) => [`receiver:${lease.id}`],
  run: release,
};

async function release(
  unit: Unit,
  inputs: readonly ReceiverRelease[],
): Promise<readonly ReleasedReceiver[]> {
  const { now } = unit;
  const held = await unit.receivers.leases.heldBy(inputs.map(({ lease }) => lease));
  const next = await unit.deliveries.nextDueAt([...held].map(({ id }) => id));
  const outputs = inputs.map(({ lease, stopping }): ReleasedReceiver => {
    const dueAt = next.get(lease.id) ?? null;
    if (!held.has(lease)) return { over: true, dueAt: null, now };
    return { over: stopping || dueAt === null || dueAt > now, dueAt, now };
  });
  await unit.receivers.release(
    inputs.flatMap(({ lease }, index) => {
      const output = outputs[index];
      if (output === undefined || !output.over || !held.has(lease)) return [];
      return [{ receiverId: lease.id, dueAt: output.dueAt }];
    }),
  );
  return outputs;
}
