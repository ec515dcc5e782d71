import type { Broker } from '../../../core/contracts/broker.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import { details } from '../reasons.ts';
import { move } from '../status.ts';
import { type MoveParts, Moves } from './apply.ts';

/** A restriction that the gateway itself imposes. */
export interface RestrictInput {
  readonly accountId: string;
  /** When it ends, by the database's clock. */
  readonly until: number;
}

/** What tells a session's host that somebody else has changed the account's row. */
export const rowChanged = { accounts: 'row_changed' } as const;

/** Restricts connected accounts for safety; answers which ones it has restricted. */
export function restrictLane(parts: MoveParts, broker: Broker): Lane<RestrictInput, boolean> {
  return {
    name: 'accounts.restrict',
    locks: ({ accountId }) => [`lease:${accountId}`],
    run: async (unit, inputs) => {
      const rows = await unit.accounts.find(inputs.map((input) => input.accountId));
      const moves = new Moves(unit, parts, rows);
      const outputs = inputs.map(({ accountId, until }) => {
        const row = moves.row(accountId);
        if (row?.status !== 'connected' || row.removedAt !== null) return false;
        const cause = { reason: 'safety_limits', detail: details.safety_limits(until) } as const;
        const decided = move(row, { type: 'restricted', scope: 'all', ...cause, until });
        if (decided === null) return false;
        moves.take(row, decided);
        unit.afterCommit(() => broker.toHost(accountId, rowChanged));
        return true;
      });
      await moves.write();
      return outputs;
    },
  };
}
