import { setTimeout as pause } from 'node:timers/promises';
import type { Lane, Tables } from '../../core/contracts/storage.ts';
import { faultOf, unavailable } from './faults.ts';
import { runGuessed } from './guess.ts';
import { CommitUnknown, transact, type UnitParts } from './unit.ts';

/** What became of one input. */
export type Settled<Output> =
  | { readonly done: true; readonly output: Output }
  | {
      readonly done: false;
      readonly error: unknown;
      /** The database cannot be reached: whatever is tried next would only wait for the same refusal. */
      readonly unreachable: boolean;
    };

/** How often a batch is repeated because others were in its way. */
const contentionRepeats = 3;

/** How often it is repeated because the connection was lost. */
const connectionRepeats = 1;

/** How often to look whether a COMMIT of unknown outcome took place, and how long to wait in between. */
const lookups = 4;
const lookupPauseMs = 500;

/**
 * Decides a batch in one transaction; if that fails for another reason than the connection, each
 * input in a transaction of its own, so that a bad one fails alone. Never rejects.
 */
export async function settle<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
): Promise<readonly Settled<Output>[]> {
  try {
    return (await repeat(parts, lane, inputs)).map((output) => ({ done: true, output }));
  } catch (error) {
    if (inputs.length < 2 || error instanceof Unreachable) {
      return inputs.map(() => failure(error));
    }
    parts.log.warn({ err: error, lane: lane.name, size: inputs.length }, 'a batch is taken apart');
  }
  const settled: Settled<Output>[] = [];
  for (const input of inputs) {
    const last = settled.at(-1);
    const hopeless = last !== undefined && !last.done && last.unreachable;
    settled.push(hopeless ? last : await settleAlone(parts, lane, input));
  }
  return settled;
}

async function settleAlone<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  input: Input,
): Promise<Settled<Output>> {
  try {
    const [output] = await repeat(parts, lane, [input]);
    // `repeat` answers as many outputs as inputs; the type of an output may include undefined.
    return { done: true, output: output as Output };
  } catch (error) {
    return failure(error);
  }
}

/** Runs one batch until it is durable, as often as its failures allow. */
async function repeat<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
): Promise<readonly Output[]> {
  let contended = 0;
  let lost = 0;
  let mayGuess = true;
  for (;;) {
    try {
      const outputs = mayGuess ? await runGuessed(parts, lane, inputs) : null;
      return outputs ?? (await runOnce(parts, lane, inputs));
    } catch (error) {
      mayGuess = false;
      if (error instanceof CommitUnknown) {
        parts.log.warn({ err: error, lane: lane.name }, 'looking up what a lost COMMIT did');
        const found = await lookUp(parts, lane, inputs);
        if (found.every((one) => one !== undefined)) {
          error.signal();
          return found.map((one) => one.output);
        }
        if (found.some((one) => one !== undefined)) return fill(parts, lane, inputs, found);
      }
      const fault = error instanceof CommitUnknown ? 'connection' : faultOf(error);
      if (fault === 'other') throw error;
      if (fault === 'connection' && ++lost > connectionRepeats) throw new Unreachable(error);
      if (fault === 'contention' && ++contended > contentionRepeats) throw error;
      parts.log.debug({ err: error, lane: lane.name, fault }, 'a batch is repeated');
      await pause(Math.random() * 20 * (contended + lost));
    }
  }
}

async function runOnce<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
): Promise<readonly Output[]> {
  const locks = inputs.flatMap((input) => lane.locks(input));
  // Should it throw at once, what became of the locks is still taken notice of.
  const early = async (tables: Tables) => await lane.early?.(tables, inputs);
  const { result, signal } = await transact(parts, { locks, early }, async (unit, found) => {
    // Without `early` a lane's `Early` is void.
    const outputs = await lane.run(unit, inputs, found as Early);
    if (outputs.length !== inputs.length) {
      throw new Error(
        `lane "${lane.name}" gave ${outputs.length} outputs for ${inputs.length} inputs`,
      );
    }
    return outputs;
  });
  signal();
  return result;
}

/**
 * Asks the lane, in a fresh transaction that holds the same locks (and so comes after whatever the lost
 * one still does), for which inputs the effects are there.
 * @throws Unreachable when it cannot be asked
 */
async function lookUp<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
): Promise<readonly ({ readonly output: Output } | undefined)[]> {
  if (lane.recover === undefined) return inputs.map(() => undefined);
  const locks = inputs.flatMap((input) => lane.locks(input));
  for (let attempt = 1; ; attempt += 1) {
    try {
      const { result, signal } = await transact(parts, { locks }, async (unit) => {
        const found: ({ readonly output: Output } | undefined)[] = [];
        for (const input of inputs) {
          const output = await lane.recover?.(unit, input);
          found.push(output === undefined ? undefined : { output });
        }
        return found;
      });
      signal();
      return result;
    } catch (error) {
      if (!(error instanceof CommitUnknown) && faultOf(error) === 'other') throw error;
      if (attempt === lookups) throw new Unreachable(error);
      await pause(lookupPauseMs);
    }
  }
}

/** Runs the inputs whose effects are not there and puts their outputs between those that are. */
async function fill<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
  found: readonly ({ readonly output: Output } | undefined)[],
): Promise<readonly Output[]> {
  const rest = await repeat(
    parts,
    lane,
    inputs.filter((_, index) => found[index] === undefined),
  );
  const outputs: Output[] = [];
  let used = 0;
  for (const one of found) {
    // `rest` has an output for every place that `found` left open.
    outputs.push(one === undefined ? (rest[used++] as Output) : one.output);
  }
  return outputs;
}

/** The connection was lost again, or the outcome of a COMMIT could not be found out. */
class Unreachable extends Error {
  constructor(cause: unknown) {
    super('the database cannot be reached', { cause });
    this.name = 'Unreachable';
  }
}

/** An input that could not be decided, with what its caller is told. */
function failure(error: unknown): Settled<never> {
  if (error instanceof Unreachable) {
    return { done: false, error: unavailable(error.cause), unreachable: true };
  }
  const told = faultOf(error) === 'other' ? error : unavailable(error);
  return { done: false, error: told, unreachable: false };
}
