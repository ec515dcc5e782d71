import type { Clock } from '../../../core/contracts/clock.ts';
import type { Lane, Tables } from '../../../core/contracts/storage.ts';
import { deadAfterMs } from '../../../core/heartbeat.ts';
import type { HeldSlots, OpenSlots, OpenWaits } from '../tables/waits.ts';

/** A wait that asks whether there is a free slot. */
export interface WaitInput {
  readonly tenantId: string;
  /** The process the wait is open on. */
  readonly processId: string;
}

/** A wait that asks for a slot. */
export interface OpenWaitInput extends WaitInput {
  /** Made by the caller. */
  readonly id: string;
  readonly timeoutMs: number;
  /** When the wait is over, by the monotonic clock of its process. */
  readonly deadline: number;
}

/** There is no free slot; one gets free after so many milliseconds at the latest. */
export interface NoSlot {
  readonly retryAfterMs: number;
}

/**
 * Slots that were granted together. All who hold one have the same object: each counts down when it needs its slot
 * no more, before it closes.
 */
export interface GrantedSlots extends HeldSlots {
  held: number;
  /** The tenant's latest inbound number when they were granted. */
  readonly latest: number;
}

/** What waits are opened on, by tenant. */
interface OpenWaitPrefetch {
  readonly open: ReadonlyMap<string, OpenWaits>;
  /** The latest inbound numbers. */
  readonly latest: ReadonlyMap<string, number>;
}

/**
 * The lane that opens waits: under the tenant's lock, so that the tenant's slots are counted exactly, over all
 * processes that live, and no message is stored meanwhile. Waits of a batch that take as long as each other are one row, which has the id of the first and
 * the end of the last.
 * @param slots how many waits one tenant may have open
 */
export function makeOpenWaitLane(
  slots: number,
  clock: Clock,
): Lane<OpenWaitInput, GrantedSlots | NoSlot, OpenWaitPrefetch> {
  return {
    name: 'messages.open-wait',
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    // Without those that ask: when this is repeated some of them may be stored already.
    async prefetch(tables, inputs) {
      const except = inputs.map((input) => input.id);
      const tenantIds = inputs.map((input) => input.tenantId);
      const [open, latest] = await Promise.all([
        openWaits(tables, inputs, except),
        tables.tenants.inboundSequences(tenantIds),
      ]);
      return { open, latest };
    },
    async run(unit, inputs, prefetched) {
      const open = new Map(prefetched.open);
      const opened = new Map<string, GrantedSlots & OpenSlots & { endsAt: number }>();
      const monotonic = clock.monotonic();
      const outputs = inputs.map(({ id, tenantId, processId, timeoutMs, deadline }) => {
        const refused = refusal(open.get(tenantId), slots);
        if (refused !== null) return refused;
        // Not all of its time: some went by until here, and the slot must not outlast the wait.
        const leftMs = Math.max(0, Math.round(deadline - monotonic));
        const { count = 0, firstEndsIn = leftMs } = open.get(tenantId) ?? {};
        open.set(tenantId, { count: count + 1, firstEndsIn: Math.min(firstEndsIn, leftMs) });
        const key = `${tenantId} ${processId} ${timeoutMs}`;
        const latest = prefetched.latest.get(tenantId) ?? 0;
        const granted = opened.get(key) ?? { id, tenantId, processId, endsAt: 0, held: 0, latest };
        granted.held += 1;
        granted.endsAt = Math.max(granted.endsAt, unit.now + leftMs);
        opened.set(key, granted);
        return granted;
      });
      await unit.withCommit.waits.open([...opened.values()]);
      return outputs;
    },
  };
}

/** Null when a wait that is answered at once may be: it takes no slot, but is none too many either. */
export async function mayPass(
  read: Pick<Tables, 'waits'>,
  input: WaitInput,
  slots: number,
): Promise<NoSlot | null> {
  return refusal((await openWaits(read, [input], [])).get(input.tenantId), slots);
}

function openWaits(
  { waits }: Pick<Tables, 'waits'>,
  inputs: readonly WaitInput[],
  except: readonly string[],
): Promise<ReadonlyMap<string, OpenWaits>> {
  return waits.openOf({
    tenantIds: inputs.map((input) => input.tenantId),
    // Who asks is alive. From its end on a wait only answers what it has: the refused were asked to come then.
    processIds: inputs.map((input) => input.processId),
    aliveMs: deadAfterMs,
    except,
  });
}

function refusal(open: OpenWaits | undefined, slots: number): NoSlot | null {
  const { count = 0, firstEndsIn = 0 } = open ?? {};
  return count < slots ? null : { retryAfterMs: firstEndsIn };
}

/**
 * The lane that gives slots back. What it stores is how many are held at that moment: it may run again, and what a
 * failed run has left is put right by the next of the same row.
 */
export const closeWaitsLane: Lane<readonly HeldSlots[], void> = {
  name: 'messages.close-waits',
  locks: () => [],
  async run(unit, inputs) {
    await unit.withCommit.waits.keep([...new Set(inputs.flat())]);
    return inputs.map(() => undefined);
  },
};
