import type { Lane } from '../../core/contracts/storage.ts';
import type { OpenWait } from './contract.ts';

/** A process that was not heard of for so long is dead, and its waits do not count. */
const deadAfterMs = 8_000;

/** A wait that asks for a place. */
export interface SlotInput {
  /** Made by the caller. */
  readonly id: string;
  readonly tenantId: string;
  /** The process the wait is open on. */
  readonly processId: string;
  readonly timeoutMs: number;
}

/** Null when the place is granted; else after how many milliseconds one gets free at the latest. */
export type SlotOutput = { readonly retryAfterMs: number } | null;

/**
 * The lane that opens waits: under the tenant's lock, so that the tenant's places are counted exactly, over all
 * processes that live.
 * @param places how many waits one tenant may have open
 */
export function makeOpenWaitLane(places: number): Lane<SlotInput, SlotOutput> {
  return {
    name: 'messages.open-wait',
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    async run(unit, inputs) {
      const { now } = unit;
      const processes = await unit.processes.seenAfter(now - deadAfterMs);
      const alive = new Set(processes.map((process) => process.id));
      for (const { processId } of inputs) alive.add(processId);
      const rows = await unit.waits.ofTenants(inputs.map((input) => input.tenantId));
      // From its end on a wait only answers what it has: the refused were told that they may come then.
      const counts = (wait: OpenWait): boolean => alive.has(wait.processId) && wait.endsAt > now;
      const open = rows.filter(counts);
      const opened: OpenWait[] = [];
      const outputs = inputs.map((input): SlotOutput => {
        const own = open.filter((wait) => wait.tenantId === input.tenantId);
        if (own.some((wait) => wait.id === input.id)) return null;
        if (own.length >= places) {
          const first = Math.min(...own.map((wait) => wait.endsAt));
          return { retryAfterMs: first - now };
        }
        const { id, tenantId, processId, timeoutMs } = input;
        const wait = { id, tenantId, processId, endsAt: now + timeoutMs };
        open.push(wait);
        opened.push(wait);
        return null;
      });
      await unit.waits.open(opened);
      await unit.waits.close(rows.filter((wait) => !counts(wait)).map((wait) => wait.id));
      return outputs;
    },
  };
}

/** The lane that gives places free. */
export const closeWaitLane: Lane<string, void> = {
  name: 'messages.close-wait',
  locks: () => [],
  async run(unit, ids) {
    await unit.waits.close(ids);
    return ids.map(() => undefined);
  },
};
