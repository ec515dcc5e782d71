import type { Broker } from '../../../core/contracts/broker.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import type { AccountRow } from '../tables/account-rows.ts';
import { rowChanged } from './restrict.ts';

/** A change of where an account connects through. */
export interface ProxyInput {
  readonly tenantId: string;
  readonly accountId: string;
  /** Sealed; null: directly. */
  readonly proxy: string | null;
}

/** Changes the proxies of accounts and notifies their hosts; answers the new records, null where there is none. */
export function proxyLane(broker: Broker): Lane<ProxyInput, AccountRow | null> {
  return {
    name: 'accounts.proxy',
    maxBatch: 16,
    locks: ({ accountId }) => [`lease:${accountId}`],
    run: async (unit, inputs) => {
      const rows = await unit.accounts.find(inputs.map(({ accountId }) => accountId));
      const found = new Map(rows.map((row) => [row.id, row]));
      const outputs: (AccountRow | null)[] = [];
      for (const { tenantId, accountId, proxy } of inputs) {
        const row = found.get(accountId);
        if (row === undefined || row.tenantId !== tenantId || row.removedAt !== null) {
          outputs.push(null);
          continue;
        }
        await unit.accounts.setProxy(accountId, proxy);
        unit.afterCommit(() => broker.toHost(accountId, rowChanged));
        outputs.push({ ...row, proxy });
      }
      return outputs;
    },
  };
}
