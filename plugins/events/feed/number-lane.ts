import type { Lane } from '../../../core/contracts/storage.ts';

/** The most events that one transaction numbers for a tenant whose reader goes through them. */
export const numberedAtOnce = 500;
/** The same for a reader who passes over them, of one tenant in a transaction: about a tenth of a second. */
export const passedAtOnce = 2_000;

/** Whose events are numbered, and how many at most. */
export interface Numbering {
  readonly tenantId: string;
  readonly most: number;
}

/**
 * The lane that numbers a tenant's next events in the order of their ids; answers whether there are more. It runs when
 * somebody reads, under a lock of its own, so that an event which commits later gets a higher number, and those who raise
 * events wait for nothing. Repeatable.
 */
export const numberLane: Lane<Numbering, boolean> = {
  name: 'events.number',
  locks: () => [],
  async run(unit, inputs) {
    const more = new Map<string, boolean>();
    let isPassing = false;
    // In one order everywhere: each feed that is locked stays so.
    for (const tenantId of [...new Set(inputs.map((input) => input.tenantId))].sort()) {
      const wanted = inputs.filter((input) => input.tenantId === tenantId);
      const asked = Math.max(...wanted.map((input) => input.most));
      const most: number = isPassing ? Math.min(asked, numberedAtOnce) : asked;
      isPassing ||= most > numberedAtOnce;
      const { last, fresh } = await unit.feed.lock(tenantId, most + 1);
      await unit.withCommit.feed.number(tenantId, last, fresh.slice(0, most));
      more.set(tenantId, fresh.length > most);
    }
    return inputs.map(({ tenantId }) => more.get(tenantId) ?? false);
  },
};
