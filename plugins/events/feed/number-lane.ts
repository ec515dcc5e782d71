import type { Lane } from '../../../core/contracts/storage.ts';

/** The most events that one transaction numbers for a tenant. */
export const numberedAtOnce = 500;

/**
 * The lane that numbers a tenant's next events in the order of their ids; answers whether there are more. It runs when
 * somebody reads, under a lock of its own, so that an event which commits later gets a higher number, and those who raise
 * events wait for nothing. Repeatable.
 */
export const numberLane: Lane<string, boolean> = {
  name: 'events.number',
  locks: () => [],
  async run(unit, tenantIds) {
    const more = new Map<string, boolean>();
    // In one order everywhere: each feed that is locked stays so.
    for (const tenantId of [...new Set(tenantIds)].sort()) {
      const { last, fresh } = await unit.feed.lock(tenantId, numberedAtOnce + 1);
      await unit.withCommit.feed.number(tenantId, last, fresh.slice(0, numberedAtOnce));
      more.set(tenantId, fresh.length > numberedAtOnce);
    }
    return tenantIds.map((tenantId) => more.get(tenantId) ?? false);
  },
};
