import type { Lane } from '../../../core/contracts/storage.ts';
import { move } from '../status.ts';
import type { AccountRow } from '../tables/accounts.ts';
import { type MoveParts, Moves } from './apply.ts';
import type { ConnectUndo } from './connect.ts';

/** Takes a connect back that nobody waits for any more. Answers false when the session was fenced already. */
export function undoLane(parts: MoveParts): Lane<ConnectUndo, boolean> {
  return {
    name: 'accounts.undo',
    maxBatch: 16,
    locks: ({ fence }) => [`lease:${fence.accountId}`],
    run: async (unit, inputs) => {
      const outputs: boolean[] = [];
      for (const { fence, created, before } of inputs) {
        const id = fence.accountId;
        const [row] = await unit.accounts.find([id]);
        const held = await unit.leases.heldBy([fence]);
        outputs.push(held.has(id));
        if (row === undefined || !held.has(id)) continue;
        if (created) {
          await unit.credentials.clear([id]);
          await unit.accounts.erase([id]);
          await unit.leases.erase([id]);
          const erased: AccountRow = { ...row, status: 'disconnected' };
          unit.afterCommit(() => parts.changes.report(row, erased, 0));
          continue;
        }
        const moves = new Moves(unit, parts, [row]);
        const abandoned = move(row, { type: 'pairing_abandoned' });
        if (before !== null) {
          moves.take(row, { state: before.state, events: [], abandon: null }, before);
        } else if (abandoned !== null) {
          moves.take(row, abandoned);
        }
        await moves.write();
        await unit.leases.end([fence]);
      }
      return outputs;
    },
  };
}
