import type { Lane, Tables } from '../../core/contracts/storage.ts';
import type { OpenWait, OpenWaits } from './contract.ts';

/** A process that was not heard of for so long is dead, and its waits do not count. */
const deadAfterMs = 8_000;

/** How many places are given free at once: all that one message wakes, in few transactions. */
const closedAtOnce = 1_000;

/** A wait that asks whether there is a place. */
export interface PlaceInput {
  readonly tenantId: string;
  /** The process the wait is open on. */
  readonly processId: string;
}

/** A wait that asks for a place. */
export interface SlotInput extends PlaceInput {
  /** Made by the caller. */
  readonly id: string;
  readonly timeoutMs: number;
}

/** Null when the place is granted; else after how many milliseconds one gets free at the latest. */
export type SlotOutput = { readonly retryAfterMs: number } | null;

/**
 * The lane that opens waits: under the tenant's lock, so that the tenant's places are counted exactly, over all
 * processes that live.
 * @param places how many waits one tenant may have open
 */
export function makeOpenWaitLane(
  places: number,
): Lane<SlotInput, SlotOutput, ReadonlyMap<string, OpenWaits>> {
  return {
    name: 'messages.open-wait',
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    // Without those that ask: when this is repeated some of them may be stored already.
    early: (tables, inputs) =>
      openWaits(
        tables,
        inputs,
        inputs.map((input) => input.id),
      ),
    async run(unit, inputs, stored) {
      const open = new Map(stored);
      const opened: OpenWait[] = [];
      const outputs = inputs.map(({ id, tenantId, processId, timeoutMs }): SlotOutput => {
        const refused = refusal(open.get(tenantId), places);
        if (refused !== null) return refused;
        const { count = 0, firstEndsIn = timeoutMs } = open.get(tenantId) ?? {};
        open.set(tenantId, {
          count: count + 1,
          firstEndsIn: Math.min(firstEndsIn, timeoutMs),
        });
        opened.push({ id, tenantId, processId, endsAt: unit.now + timeoutMs });
        return null;
      });
      await unit.withCommit.waits.open(opened);
      return outputs;
    },
  };
}

/** Whether a wait that is answered at once may be: it takes no place, but is none too many either. */
export async function mayPass(
  read: Pick<Tables, 'waits'>,
  input: PlaceInput,
  places: number,
): Promise<SlotOutput> {
  return refusal((await openWaits(read, [input], [])).get(input.tenantId), places);
}

function openWaits(
  { waits }: Pick<Tables, 'waits'>,
  inputs: readonly PlaceInput[],
  except: readonly string[],
): Promise<ReadonlyMap<string, OpenWaits>> {
  return waits.openOf({
    tenantIds: inputs.map((input) => input.tenantId),
    // Who asks is alive. From its end on a wait only answers what it has: the refused were told to come then.
    processIds: inputs.map((input) => input.processId),
    aliveMs: deadAfterMs,
    except,
  });
}

function refusal(open: OpenWaits | undefined, places: number): SlotOutput {
  const { count = 0, firstEndsIn = 0 } = open ?? {};
  return count < places ? null : { retryAfterMs: firstEndsIn };
}

/** The lane that gives places free. */
export const closeWaitLane: Lane<string, void> = {
  name: 'messages.close-wait',
  maxBatch: closedAtOnce,
  locks: () => [],
  async run(unit, ids) {
    await unit.withCommit.waits.close(ids);
    return ids.map(() => undefined);
  },
};
