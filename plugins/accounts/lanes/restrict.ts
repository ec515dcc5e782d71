import type { Broker } from '../../../core/contracts/broker.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import { details } from '../reasons.ts';
import { accountTransition } from '../status.ts';
import { TransitionBatch, type TransitionParts } from './transition-batch.ts';

/** A restriction that the gateway itself imposes. */
export interface RestrictInput {
  readonly accountId: string;
  /** When it ends, by the database's clock. */
  readonly until: number;
}

/** Notifies a session's host that somebody else has changed the account's row. */
export const rowChanged = { accounts: 'row_changed' } as const;

/** Restricts connected accounts for safety; answers for each whether it was. */
export function restrictLane(parts: TransitionParts, broker: Broker): Lane<RestrictInput, boolean> {
  return {
    name: 'accounts.restrict',
    locks: ({ accountId }) => [`lease:${accountId}`],
    run: async (unit, inputs) => {
      const rows = await unit.accounts.find(inputs.map((input) => input.accountId));
      const batch = new TransitionBatch(unit, parts, rows);
      const outputs = inputs.map(({ accountId, until }) => {
        const row = batch.row(accountId);
        if (row?.status !== 'connected' || row.removedAt !== null) return false;
        const cause = { reason: 'safety_limits', detail: details.safety_limits(until) } as const;
        const decided = accountTransition(row, {
          type: 'restricted',
          scope: 'all',
          ...cause,
          until,
        });
        if (decided === null) return false;
        batch.add(row, decided);
        unit.afterCommit(() => broker.toHost(accountId, rowChanged));
        return true;
      });
      await batch.write();
      return outputs;
    },
  };
}
