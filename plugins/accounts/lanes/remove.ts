import type { Lane } from '../../../core/contracts/storage.ts';
import { move } from '../status.ts';
import { type MoveParts, Moves } from './apply.ts';

/** A DELETE of a connection. */
export interface RemoveInput {
  readonly tenantId: string;
  /** As it was read before. */
  readonly accountId: string;
}

/** Null: there was no such record any more. */
export type RemoveOutput = null | {
  /** The process that held its session, if one did. */
  readonly owner: string | null;
  /** A device was linked on the network. */
  readonly linked: boolean;
};

/**
 * Removes a record: its number is free, its credentials are gone, whoever holds its session is fenced out, its
 * queued messages have failed. Needs no session process.
 */
export function removeLane(parts: MoveParts): Lane<RemoveInput, RemoveOutput> {
  return {
    name: 'accounts.remove',
    maxBatch: 64,
    locks: ({ tenantId, accountId }) => [`tenant:${tenantId}`, `lease:${accountId}`],
    run: async (unit, inputs) => {
      const ids = inputs.map((input) => input.accountId);
      const rows = await unit.accounts.find(ids);
      const leases = await unit.leases.find(ids);
      const owners = new Map(leases.map((lease) => [lease.accountId, lease.owner]));
      const moves = new Moves(unit, parts, rows);
      const removed = new Set<string>();
      const outputs = inputs.map((input): RemoveOutput => {
        const row = moves.row(input.accountId);
        const gone = row === undefined || row.removedAt !== null || removed.has(row.id);
        const decided = gone ? null : move(row, { type: 'remove' });
        if (gone || decided === null || row.tenantId !== input.tenantId) return null;
        moves.take(row, decided);
        removed.add(row.id);
        return { owner: owners.get(row.id) ?? null, linked: row.linked };
      });
      await moves.write();
      await unit.accounts.remove([...removed], unit.now);
      await unit.leases.revoke([...removed]);
      return outputs;
    },
    recover: async (unit, input) => {
      const [row] = await unit.accounts.find([input.accountId]);
      if (row === undefined || row.removedAt === null) return undefined;
      const [lease] = await unit.leases.find([input.accountId]);
      // What it was before is gone with it: better a word too much than a device that stays.
      return { owner: lease?.owner ?? null, linked: true };
    },
  };
}
