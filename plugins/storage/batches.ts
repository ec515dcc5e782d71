import { setTimeout as pause } from 'node:timers/promises';
import type { Lane, Lock, Tables, Unit } from '../../core/contracts/storage.ts';
import {
  type CurrentRequest,
  type CurrentRequests,
  forRequests,
  logFieldsOf,
} from '../../core/current-request.ts';
import { faultOf, isAnswerTimeout } from './faults.ts';
import { Losses } from './losses.ts';
import { RepeatLimits } from './repeat-limits.ts';
import { CommitUnknown, transact, type UnitParts } from './unit.ts';

/** One input of a batch, as it was submitted. */
export interface BatchEntry<Input> {
  readonly input: Input;
  /** What the lane locks for it. */
  readonly locks: readonly Lock[];
  /** Whose request it is part of, for the log. */
  readonly request: CurrentRequest | undefined;
}

/** The outcome of one input. */
export type Settled<Output> =
  | { readonly done: true; readonly output: Output }
  | {
      readonly done: false;
      readonly error: unknown;
      /** The database is away or takes no writes: whatever is tried next would only wait for the same refusal. */
      readonly hopeless: boolean;
    };

/** The pause between look-ups of a COMMIT whose answer was lost, in milliseconds. */
const lookupPauseMs = 500;

/** How many COMMITs in a row one batch may lose. */
const mostLosses = 3;

/**
 * Decides a batch in one transaction. After a failure that is not of the connection each input has a transaction of its
 * own, so that a bad one fails alone. Never rejects.
 */
export async function settle<Input, Output, Prefetched>(
  parts: UnitParts,
  lane: Lane<Input, Output, Prefetched>,
  entries: readonly BatchEntry<Input>[],
): Promise<readonly Settled<Output>[]> {
  const losses = new Losses<BatchEntry<Input>>();
  try {
    const outputs = await repeat(parts, lane, entries, losses);
    return outputs.map((output) => ({ done: true, output }));
  } catch (error) {
    if (entries.length < 2 || error instanceof Hopeless) {
      return entries.map(() => failure(parts, error));
    }
    parts.log.warn(
      { err: error, lane: lane.name, size: entries.length, ...logFieldsOf(requestsOf(entries)) },
      'a batch failed: each input runs alone',
    );
  }
  const settled: Settled<Output>[] = [];
  for (const entry of entries) {
    const last = settled.at(-1);
    const isHopeless = last !== undefined && !last.done && last.hopeless;
    const alone = () => settleAlone(parts, lane, entry, losses);
    settled.push(isHopeless ? last : await forRequests([entry.request], alone));
  }
  return settled;
}

async function settleAlone<Input, Output, Prefetched>(
  parts: UnitParts,
  lane: Lane<Input, Output, Prefetched>,
  entry: BatchEntry<Input>,
  losses: Losses<BatchEntry<Input>>,
): Promise<Settled<Output>> {
  try {
    const [output] = await repeat(parts, lane, [entry], losses);
    // `repeat` answers as many outputs as inputs; the type of an output may include undefined.
    return { done: true, output: output as Output };
  } catch (error) {
    return failure(parts, error);
  }
}

/**
 * Runs one batch until it is durable, as often as its failures allow. After a COMMIT of unknown outcome every further
 * transaction first looks up what that one did.
 */
async function repeat<Input, Output, Prefetched>(
  parts: UnitParts,
  lane: Lane<Input, Output, Prefetched>,
  entries: readonly BatchEntry<Input>[],
  losses: Losses<BatchEntry<Input>>,
): Promise<readonly Output[]> {
  const limits = new RepeatLimits();
  for (;;) {
    try {
      losses.running = entries;
      const outputs = await runOnce(parts, lane, entries, losses);
      parts.breaker.recordSuccess();
      return outputs;
    } catch (error) {
      const isUnknown = error instanceof CommitUnknown;
      const cause = isUnknown ? error.cause : error;
      const fault = isUnknown ? 'connection' : faultOf(error);
      if (fault === 'other') throw error;
      parts.breaker.recordFailure(cause);
      const givenUp = fault === 'contention' ? error : new Hopeless(cause);
      const fields = { err: error, lane: lane.name, ...logFieldsOf(requestsOf(entries)) };
      if (isUnknown && lane.recover !== undefined) {
        losses.add(error.signal);
        if (losses.count > mostLosses) throw givenUp;
        limits.resetLookups();
        parts.log.warn(fields, 'a lost COMMIT is looked up');
      } else if (losses.count > 0) {
        if (limits.count('lookup')) throw givenUp;
        await pause(lookupPauseMs);
      } else if (fault === 'unwritable' || isAnswerTimeout(cause)) throw givenUp;
      else if (limits.count(fault)) throw givenUp;
      parts.log.debug({ ...fields, fault }, 'a batch is repeated');
      await pause(limits.pauseMs());
    }
  }
}

/** Runs one batch in one transaction, without inputs that a lost COMMIT has decided. */
async function runOnce<Input, Output, Prefetched>(
  parts: UnitParts,
  lane: Lane<Input, Output, Prefetched>,
  entries: readonly BatchEntry<Input>[],
  losses: Losses<BatchEntry<Input>>,
): Promise<readonly Output[]> {
  const locks = entries.flatMap((entry) => entry.locks);
  const inputs = inputsOf(entries);
  const isLookup = losses.count > 0;
  // An async function: a synchronous throw of `prefetch` must not skip the locks.
  const prefetch = async (tables: Tables) =>
    isLookup ? undefined : await lane.prefetch?.(tables, inputs);
  const { result, signal } = await transact(parts, { locks, prefetch }, (unit, found) =>
    isLookup
      ? runRest(lane, entries, unit, losses)
      : // Without `prefetch` a lane's `Prefetched` is void.
        runAll(lane, inputs, unit, found as Prefetched, false),
  );
  signal();
  return result;
}

async function runAll<Input, Output, Prefetched>(
  lane: Lane<Input, Output, Prefetched>,
  inputs: readonly Input[],
  unit: Unit,
  prefetched: Prefetched,
  isRepeat: boolean,
): Promise<readonly Output[]> {
  const outputs = await lane.run(unit, inputs, prefetched, isRepeat);
  if (outputs.length !== inputs.length) {
    throw new Error(
      `lane "${lane.name}" gave ${outputs.length} outputs for ${inputs.length} inputs`,
    );
  }
  return outputs;
}

/**
 * Asks the lane which inputs a lost COMMIT has decided, and runs the others in the same transaction. Its locks make it
 * wait until the lost transaction has ended.
 */
async function runRest<Input, Output, Prefetched>(
  lane: Lane<Input, Output, Prefetched>,
  entries: readonly BatchEntry<Input>[],
  unit: Unit,
  losses: Losses<BatchEntry<Input>>,
): Promise<readonly Output[]> {
  const found: (Output | undefined)[] = [];
  for (const { input } of entries) found.push(await lane.recover?.(unit, input));
  const missing = entries.filter((_, index) => found[index] === undefined);
  const there = entries.filter((_, index) => found[index] !== undefined);
  for (const signal of losses.signalsOf(there)) unit.afterCommit(signal);
  losses.running = missing;
  if (missing.length === 0) return found as readonly Output[];
  const inputs = inputsOf(missing);
  // Without `prefetch` a lane's `Prefetched` is void.
  const prefetched = (await lane.prefetch?.(unit, inputs)) as Prefetched;
  const rest = (await runAll(lane, inputs, unit, prefetched, true)).values();
  // One output for each input that had none.
  return found.map((output) => (output === undefined ? (rest.next().value as Output) : output));
}

function inputsOf<Input>(entries: readonly BatchEntry<Input>[]): readonly Input[] {
  return entries.map(({ input }) => input);
}

function requestsOf(entries: readonly BatchEntry<unknown>[]): CurrentRequests {
  return entries.map(({ request }) => request);
}

/**
 * Repeating is hopeless: the connection was lost again, the outcome of a COMMIT is unknown, or the database takes no
 * writes.
 */
class Hopeless extends Error {
  constructor(cause: unknown) {
    super('the database cannot be asked', { cause });
    this.name = 'Hopeless';
  }
}

/** A failed input, with the refusal for its caller. */
function failure({ breaker }: UnitParts, error: unknown): Settled<never> {
  if (error instanceof Hopeless) {
    return { done: false, error: breaker.unavailable(error.cause), hopeless: true };
  }
  const refusal = faultOf(error) === 'other' ? error : breaker.unavailable(error);
  return { done: false, error: refusal, hopeless: false };
}
