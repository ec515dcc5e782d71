import type { Lane } from '../../../core/contracts/storage.ts';
import { oneByOne } from '../../../core/one-by-one.ts';
import { ownsNumber } from '../account-state.ts';
import type { AccountProxies } from '../proxies.ts';
import { accountTransition } from '../status.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import type { ConnectUndo } from './connect.ts';
import { TransitionBatch, type TransitionParts } from './transition-batch.ts';

/** Undoes a connect whose caller is gone. Answers false when it did not: the session was fenced or has linked. */
export function undoLane(
  parts: TransitionParts,
  proxies: Pick<AccountProxies, 'resealed'>,
): Lane<ConnectUndo, boolean> {
  return {
    name: 'accounts.undo',
    maxBatch: 16,
    locks: ({ fence }) => [`lease:${fence.id}`],
    run: oneByOne(async (unit, { fence, created, counted, proxy, before }) => {
      const id = fence.id;
      const [row] = await unit.accounts.find([id]);
      const held = await unit.leases.rows.heldBy([fence]);
      if (!held.has(fence)) return false;
      if (row === undefined) return true;
      // The network knows the link, and its event has gone out.
      if (ownsNumber(row)) {
        await unit.leases.rows.release([fence]);
        return false;
      }
      if (created) {
        await unit.credentials.clear([id]);
        await unit.accounts.erase([id]);
        await unit.leases.erase([id]);
        await unit.links.end([id]);
        const erased: AccountRow = { ...row, status: 'disconnected' };
        unit.afterCommit(() => parts.reporter.report(row, erased, 0));
        return true;
      }
      const batch = new TransitionBatch(unit, parts, [row]);
      const abandoned = accountTransition(row, { type: 'pairing_abandoned' });
      if (before !== null) {
        batch.add(row, { state: before.state, events: [], abandon: null }, before);
      } else if (abandoned !== null) {
        batch.add(row, abandoned);
      }
      await batch.write();
      // Another call may have changed the proxy since.
      if (row.proxy === proxy?.written) {
        // A change of the sealing key passes by what is not in the record.
        await unit.accounts.setProxy(id, proxies.resealed({ id, proxy: proxy.before }));
      }
      if (counted) await unit.links.uncountRestart(id);
      await unit.leases.end([fence]);
      return true;
    }),
  };
}
