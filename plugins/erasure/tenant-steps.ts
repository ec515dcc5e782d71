import type { Lane, Storage } from '../../core/contracts/storage.ts';
import type { Erasure, ErasureStep } from './contract.ts';
import type { Belonging, PrimaryKey } from './tables/belongings.ts';

/** Rows that one transaction deletes: others wait for milliseconds. */
const rowsAtOnce = 200;

/** Rows of one table that are deleted. */
interface Deletion {
  readonly of: Belonging;
  readonly rows: readonly PrimaryKey[];
}

const deleteLane: Lane<Deletion, void> = {
  name: 'erasures.delete-rows',
  maxBatch: 1,
  locks: () => [],
  async run(unit, inputs) {
    for (const { of, rows } of inputs) {
      // Media is given up with its message.
      if (of.table === 'messages') await unit.messages.delete(rows.map(({ id }) => String(id)));
      else await unit.tenantRows.delete(of, rows);
    }
    return inputs.map(() => undefined);
  },
};

const forgetLane: Lane<Erasure, void> = {
  name: 'erasures.forget-tenant',
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  async run(unit, inputs) {
    for (const { tenantId } of inputs) {
      await unit.media.giveUpOfTenant(tenantId);
      await unit.tenants.forget(tenantId);
    }
    return inputs.map(() => undefined);
  },
};

/**
 * The steps that erase what a deleted tenant has, table by table, and its name last. Rows are searched for outside of
 * transactions, which hold the locks of what they delete alone.
 */
export function tenantSteps(
  storage: Pick<Storage, 'read' | 'submit'>,
  belongings: readonly Belonging[],
): readonly ErasureStep[] {
  const emptying = belongings.map(
    (of): ErasureStep =>
      async ({ tenantId }) => {
        const rows = await storage.read.tenantRows.some(tenantId, of, rowsAtOnce);
        if (rows.length > 0) await storage.submit(deleteLane, { of, rows });
        return rows.length > 0;
      },
  );
  const forget: ErasureStep = async (erasure) => {
    await storage.submit(forgetLane, erasure);
    return false;
  };
  return [...emptying, forget];
}
