import { chunks } from '../../core/chunks.ts';
import type { Lane, Storage } from '../../core/contracts/storage.ts';
import { oneByOne } from '../../core/one-by-one.ts';
import type { Erasure, ErasureStep } from './contract.ts';
import type { Belonging, PrimaryKey } from './tables/belongings.ts';
import { firstOwner, type OwnerPosition } from './tables/tenant-rows.ts';

/** Rows that one transaction deletes: others wait for milliseconds. */
const rowsAtOnce = 200;

/** Rows that others belong to that are read at a time. */
const ownersAtOnce = 100;

/** Rows of a table without an index of tenants that are read at a time. */
const readAtOnce = 2_000;

/** Rows of one table that are deleted. */
interface Deletion {
  readonly of: Belonging;
  readonly rows: readonly PrimaryKey[];
}

const deleteLane: Lane<Deletion, void> = {
  name: 'erasures.delete-rows',
  maxBatch: 1,
  locks: () => [],
  run: oneByOne(async (unit, { of, rows }) => {
    // Media is given up with its message.
    if (of.table === 'messages') await unit.messages.delete(rows.map(({ id }) => String(id)));
    else await unit.tenantRows.delete(of, rows);
  }),
};

const forgetTenantLane: Lane<Erasure, void> = {
  name: 'erasures.forget-tenant',
  locks: ({ tenantId }) => [`tenant:${tenantId}`],
  run: oneByOne(async (unit, { tenantId }) => {
    await unit.media.giveUpOfTenant(tenantId);
    await unit.tenants.forget(tenantId);
  }),
};

/**
 * The steps that erase what a deleted tenant has, table by table, and its name last. Rows are searched for outside of
 * transactions, which hold the locks of what they delete alone.
 */
export function tenantSteps(
  storage: Pick<Storage, 'read' | 'submit'>,
  belongings: readonly Belonging[],
): readonly ErasureStep[] {
  const emptying = belongings.map((of) => {
    if (of.parent !== null) return followingStep(storage, of, of.parent);
    return of.isWalked ? walkingStep(storage, of) : emptyingStep(storage, of);
  });
  const forget: ErasureStep = async (erasure) => {
    await storage.submit(forgetTenantLane, erasure);
    return false;
  };
  return [...emptying, forget];
}

function emptyingStep(storage: Pick<Storage, 'read' | 'submit'>, of: Belonging): ErasureStep {
  return async ({ tenantId }) => {
    const rows = await storage.read.tenantRows.some([tenantId], of, rowsAtOnce);
    if (rows.length > 0) await storage.submit(deleteLane, { of, rows });
    return rows.length > 0;
  };
}

/** Reads what the tenant has from first to last, and deletes the rows of another table that belong to it. */
function followingStep(
  storage: Pick<Storage, 'read' | 'submit'>,
  of: Belonging,
  parent: string,
): ErasureStep {
  const positions = new Map<string, OwnerPosition>();
  return async ({ tenantId }) => {
    const { tenantRows } = storage.read;
    const position = positions.get(tenantId) ?? firstOwner;
    const owners = await tenantRows.owners(parent, tenantId, position, ownersAtOnce);
    const rows = await tenantRows.some(
      owners.map(({ id }) => id),
      of,
      rowsAtOnce,
    );
    if (rows.length > 0) await storage.submit(deleteLane, { of, rows });
    if (rows.length === rowsAtOnce) return true;
    const last = owners.at(-1);
    if (last !== undefined) positions.set(tenantId, [last.created_at, last.id]);
    if (owners.length === ownersAtOnce) return true;
    positions.delete(tenantId);
    return false;
  };
}

/** Reads a table from its first row to its last, and deletes those of the tenant. */
function walkingStep(storage: Pick<Storage, 'read' | 'submit'>, of: Belonging): ErasureStep {
  const positions = new Map<string, string>();
  return async ({ tenantId }) => {
    const page = await storage.read.tenantRows.page(
      of.table,
      positions.get(tenantId) ?? '',
      readAtOnce,
    );
    const rows = page.filter((row) => row.tenant_id === tenantId).map(({ id }) => ({ id }));
    for (const some of chunks(rows, rowsAtOnce)) {
      await storage.submit(deleteLane, { of, rows: some });
    }
    const last = page.at(-1);
    if (last !== undefined) positions.set(tenantId, last.id);
    if (page.length === readAtOnce) return true;
    positions.delete(tenantId);
    return false;
  };
}
