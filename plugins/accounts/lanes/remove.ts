import type { Lane } from '../../../core/contracts/storage.ts';
import { accountTransition } from '../status.ts';
import { TransitionBatch, type TransitionParts } from './transition-batch.ts';

/** A DELETE of a connection. */
export interface RemoveInput {
  readonly tenantId: string;
  /** The record as read before. */
  readonly accountId: string;
}

/** Null: the record was gone. */
export type RemoveOutput = null | {
  /** The process that held its session, if one did. */
  readonly owner: string | null;
  /** A device was linked on the network. */
  readonly linked: boolean;
};

/**
 * Removes a record: frees its number, deletes its credentials, fences its session out and fails its queued messages.
 * Needs no session process.
 */
export function removeLane(parts: TransitionParts): Lane<RemoveInput, RemoveOutput> {
  return {
    name: 'accounts.remove',
    maxBatch: 64,
    locks: ({ tenantId, accountId }) => [`tenant:${tenantId}`, `lease:${accountId}`],
    run: async (unit, inputs) => {
      const ids = inputs.map((input) => input.accountId);
      const rows = await unit.accounts.find(ids);
      const leases = await unit.leases.rows.find(ids);
      const owners = new Map(leases.map((lease) => [lease.id, lease.owner]));
      const batch = new TransitionBatch(unit, parts, rows);
      const removed = new Set<string>();
      const outputs = inputs.map((input): RemoveOutput => {
        const row = batch.row(input.accountId);
        const gone = row === undefined || row.removedAt !== null || removed.has(row.id);
        const decided = gone ? null : accountTransition(row, { type: 'remove' });
        if (gone || decided === null || row.tenantId !== input.tenantId) return null;
        batch.add(row, decided);
        removed.add(row.id);
        return { owner: owners.get(row.id) ?? null, linked: row.linked };
      });
      await batch.write();
      await unit.accounts.remove([...removed], unit.now);
      await unit.leases.revoke([...removed]);
      await unit.links.end([...removed]);
      return outputs;
    },
    recover: async (unit, input) => {
      const [row] = await unit.accounts.find([input.accountId]);
      if (row === undefined || row.removedAt === null) return undefined;
      const [lease] = await unit.leases.rows.find([input.accountId]);
      // Its former state is unknown: a needless notice is better than a device that stays linked.
      return { owner: lease?.owner ?? null, linked: true };
    },
  };
}
