import type { Broker } from '../../../core/contracts/broker.ts';
import type { Lane } from '../../../core/contracts/storage.ts';
import { rowChanged } from './restrict.ts';

/** A change of where an account connects through. */
export interface ProxyInput {
  readonly tenantId: string;
  readonly accountId: string;
  /** Sealed, also for none: an undone connect takes it for no proxy of its own. */
  readonly proxy: string;
}

/** Changes the proxies of accounts and notifies their hosts; answers for each whether there was one. */
export function proxyLane(broker: Broker): Lane<ProxyInput, boolean> {
  return {
    name: 'accounts.proxy',
    maxBatch: 16,
    locks: ({ accountId }) => [`lease:${accountId}`],
    run: async (unit, inputs) => {
      const rows = await unit.accounts.find(inputs.map(({ accountId }) => accountId));
      const found = new Map(rows.map((row) => [row.id, row]));
      const outputs: boolean[] = [];
      for (const { tenantId, accountId, proxy } of inputs) {
        const row = found.get(accountId);
        const isThere = row?.tenantId === tenantId && row.removedAt === null;
        outputs.push(isThere);
        if (!isThere) continue;
        await unit.accounts.setProxy(accountId, proxy);
        unit.afterCommit(() => broker.toHost(accountId, rowChanged));
      }
      return outputs;
    },
  };
}
