import type { Clock } from '../../../core/contracts/clock.ts';
import type { Lane, Tables } from '../../../core/contracts/storage.ts';
import type { HeldPlaces, OpenPlaces, OpenWaits } from '../tables/waits.ts';

/** A process that was not heard of for so long is dead, and its waits do not count. */
const deadAfterMs = 8_000;

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
  /** When the wait is over, by the monotonic clock of its process. */
  readonly deadline: number;
}

/** There is no place; one gets free after so many milliseconds at the latest. */
export interface NoPlace {
  readonly retryAfterMs: number;
}

/**
 * Places that were granted together. All who hold one have the same object: each counts down when it needs its place
 * no more, before it closes.
 */
export interface GrantedPlaces extends HeldPlaces {
  held: number;
}

/**
 * The lane that opens waits: under the tenant's lock, so that the tenant's places are counted exactly, over all
 * processes that live. Waits of a batch that take as long as each other are one row, which has the id of the first and
 * the end of the last.
 * @param places how many waits one tenant may have open
 */
export function makeOpenWaitLane(
  places: number,
  clock: Clock,
): Lane<SlotInput, GrantedPlaces | NoPlace, ReadonlyMap<string, OpenWaits>> {
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
      const opened = new Map<string, GrantedPlaces & OpenPlaces & { endsAt: number }>();
      const monotonic = clock.monotonic();
      const outputs = inputs.map(({ id, tenantId, processId, timeoutMs, deadline }) => {
        const refused = refusal(open.get(tenantId), places);
        if (refused !== null) return refused;
        // Not all of its time: some went by until here, and the place must not outlast the wait.
        const leftMs = Math.max(0, Math.round(deadline - monotonic));
        const { count = 0, firstEndsIn = leftMs } = open.get(tenantId) ?? {};
        open.set(tenantId, { count: count + 1, firstEndsIn: Math.min(firstEndsIn, leftMs) });
        const key = `${tenantId} ${processId} ${timeoutMs}`;
        const granted = opened.get(key) ?? { id, tenantId, processId, endsAt: 0, held: 0 };
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

/** Null when a wait that is answered at once may be: it takes no place, but is none too many either. */
export async function mayPass(
  read: Pick<Tables, 'waits'>,
  input: PlaceInput,
  places: number,
): Promise<NoPlace | null> {
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

function refusal(open: OpenWaits | undefined, places: number): NoPlace | null {
  const { count = 0, firstEndsIn = 0 } = open ?? {};
  return count < places ? null : { retryAfterMs: firstEndsIn };
}

/**
 * The lane that gives places back. What it stores is how many are held at that moment: it may run again, and what a
 * failed run has left is put right by the next of the same row.
 */
export const closeWaitsLane: Lane<readonly HeldPlaces[], void> = {
  name: 'messages.close-waits',
  locks: () => [],
  async run(unit, inputs) {
    await unit.withCommit.waits.keep([...new Set(inputs.flat())]);
    return inputs.map(() => undefined);
  },
};
