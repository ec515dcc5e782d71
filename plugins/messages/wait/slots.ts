import type { Clock } from '../../../core/contracts/clock.ts';
import type { Lane, Storage, Tables } from '../../../core/contracts/storage.ts';
import { deadAfterMs } from '../../../core/heartbeat.ts';
import { writeLane } from '../../../core/write-lane.ts';
import type { GrantedSlot, SlotRequest } from '../contract.ts';
import type { HeldSlots, OpenSlots, OpenWaits, PollKind } from '../tables/waits.ts';
import { questionKey, readPage, type WaitQuestion } from './wait-pages.ts';
import type { WaitResult } from './wait-result.ts';

/** A wait that asks whether there is a free slot. */
export interface WaitInput {
  readonly tenantId: string;
  /** The process the wait is open on. */
  readonly processId: string;
}

/** A wait that asks for a slot. */
export interface OpenWaitInput extends WaitInput, SlotRequest {
  /** Made by the caller. */
  readonly id: string;
  /** What is read first: a wait that is behind gets its page instead of a slot. Null: nothing. */
  readonly question: WaitQuestion | null;
}

/** There is no free slot; one gets free after so many milliseconds at the latest. */
export interface NoSlot {
  readonly retryAfterMs: number;
}

/** What becomes of a wait that asks for a slot. */
export type OpenedWait = GrantedSlot | NoSlot | WaitResult;

/** How slots of one kind are asked for and given back. */
export interface SlotLanes {
  /** Asks whether a wait may be answered that takes no slot; null: it may. Reads only. */
  passWait(input: WaitInput): Promise<NoSlot | null>;
  openWait(input: OpenWaitInput): Promise<OpenedWait>;
  /** Stores how many of these slots are held still. */
  closeWaits(slots: readonly HeldSlots[]): Promise<void>;
}

/** What one kind of long polls is allowed. */
export interface SlotRules {
  readonly kind: PollKind;
  /** How many of them one tenant may have open. */
  readonly slots: number;
}

/** What waits are opened on, by tenant. */
interface OpenWaitPrefetch {
  readonly open: ReadonlyMap<string, OpenWaits>;
  /** The latest inbound numbers, for waits that begin there. */
  readonly latest: ReadonlyMap<string, number>;
  /** What waits have not seen yet, by `questionKey`. */
  readonly pages: ReadonlyMap<string, WaitResult>;
}

/**
 * The lane that opens waits: under the tenant's lock, so that the tenant's slots are counted exactly, over all
 * processes that live, and no message is stored meanwhile. Waits of a batch that take as long as each other are one row,
 * which has the id of the first and the end of the last.
 */
function makeOpenWaitLane(
  rules: SlotRules,
  clock: Clock,
): Lane<OpenWaitInput, OpenedWait, OpenWaitPrefetch> {
  const { kind, slots } = rules;
  // A transaction that counts as failed may have stored the slots of these.
  const ran = new WeakSet<OpenWaitInput>();
  return {
    name: `${kind}.open-wait`,
    locks: ({ tenantId }) => [`tenant:${tenantId}`],
    // Without those that ask: when this is repeated some of them may be stored already.
    async prefetch(tables, inputs) {
      const except = inputs.map((input) => input.id);
      const fromNow = inputs.filter(({ question }) => kind === 'messages' && question === null);
      const [open, latest, pages] = await Promise.all([
        openWaits(tables, kind, inputs, except),
        tables.tenants.inboundSequences(fromNow.map((input) => input.tenantId)),
        pagesOf(tables, inputs),
      ]);
      return { open, latest, pages };
    },
    async run(unit, inputs, prefetched) {
      const open = new Map(prefetched.open);
      const opened = new Map<string, GrantedSlot & OpenSlots & { endsAt: number }>();
      const monotonic = clock.monotonic();
      const outputs = inputs.map((input) => {
        const { id, tenantId, processId, timeoutMs, deadline, question } = input;
        const refused = refusal(open.get(tenantId), slots);
        if (refused !== null) return refused;
        const page = question === null ? undefined : prefetched.pages.get(questionKey(question));
        if (page !== undefined && page.messages.length > 0) return page;
        // Not all of its time: some went by until here, and the slot must not outlast the wait.
        const leftMs = Math.max(0, Math.round(deadline - monotonic));
        const { count = 0, firstEndsIn = leftMs } = open.get(tenantId) ?? {};
        open.set(tenantId, { count: count + 1, firstEndsIn: Math.min(firstEndsIn, leftMs) });
        const key = `${tenantId} ${processId} ${timeoutMs}`;
        const latest = prefetched.latest.get(tenantId) ?? 0;
        const granted = opened.get(key) ?? {
          id,
          kind,
          tenantId,
          processId,
          endsAt: 0,
          held: 0,
          latest,
        };
        granted.held += 1;
        granted.endsAt = Math.max(granted.endsAt, unit.now + leftMs);
        opened.set(key, granted);
        return granted;
      });
      const granted = [...opened.values()];
      const again = inputs.filter((input) => ran.has(input));
      const unused = again.filter(({ id }) => !granted.some((slot) => slot.id === id));
      for (const input of inputs) ran.add(input);
      await unit.withCommit.waits.keep(unused.map(({ id }) => ({ id, held: 0 })));
      await unit.withCommit.waits.open(granted);
      return outputs;
    },
  };
}

/** Reads what these waits ask for, once for those that ask for the same. No message is stored meanwhile. */
async function pagesOf(
  tables: Tables,
  inputs: readonly OpenWaitInput[],
): Promise<ReadonlyMap<string, WaitResult>> {
  const questions = new Map<string, WaitQuestion>();
  for (const { question } of inputs) {
    if (question !== null) questions.set(questionKey(question), question);
  }
  const reads = [...questions].map(
    async ([key, question]) => [key, await readPage(tables, question, Infinity)] as const,
  );
  return new Map(await Promise.all(reads));
}

/** Null when a wait that is answered at once may be: it takes no slot, but is none too many either. */
async function mayPass(
  read: Pick<Tables, 'waits'>,
  input: WaitInput,
  { kind, slots }: SlotRules,
): Promise<NoSlot | null> {
  return refusal((await openWaits(read, kind, [input], [])).get(input.tenantId), slots);
}

function openWaits(
  { waits }: Pick<Tables, 'waits'>,
  kind: PollKind,
  inputs: readonly WaitInput[],
  except: readonly string[],
): Promise<ReadonlyMap<string, OpenWaits>> {
  return waits.openOf({
    kind,
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
const closeWaitsLane = writeLane<readonly HeldSlots[]>(
  'messages.close-waits',
  ({ withCommit }, inputs) => withCommit.waits.keep([...new Set(inputs.flat())]),
);

/** Makes the lanes of one kind of long polls, once for each storage. */
export function makeSlotLanes(storage: Storage, clock: Clock, rules: SlotRules): SlotLanes {
  const openWait = makeOpenWaitLane(rules, clock);
  return {
    passWait: (input) => mayPass(storage.read, input, rules),
    openWait: (input) => storage.submit(openWait, input),
    closeWaits: (input) => storage.submit(closeWaitsLane, input),
  };
}
