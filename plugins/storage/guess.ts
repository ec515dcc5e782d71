import type { Lane } from '../../core/contracts/storage.ts';
import type { Connections } from './connection.ts';
import { Executor } from './executor.ts';
import { faultOf, fitForLog, leavesCommitOpen } from './faults.ts';
import { type Guessed, standInOf } from './guessed.ts';
import type { Statement } from './pipeline.ts';
import { begin } from './transaction.ts';
import { CommitUnknown, makeUnit, signalAll, takingOf, type UnitParts } from './unit.ts';

/** What a batch has decided on a guess. */
interface Decided<Output> {
  readonly outputs: readonly Output[];
  readonly last: readonly Statement[];
  /** Runs what was meant for after the commit. */
  signal(): void;
}

/** Pools whose server takes no transaction in one piece, as MySQL does not. */
const unable = new WeakSet<Connections['write']>();

/**
 * Decides a batch on the lane's guess, if it has one, in a transaction of one round trip, see `Lane.guess`.
 * @returns null where there is nothing to guess or it did not do: the batch is to be decided as ever
 * @throws CommitUnknown, or the database's error where others were in the way or the connection was lost
 */
export async function runGuessed<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
): Promise<readonly Output[] | null> {
  const { dialect, write } = parts.connections;
  if (lane.guess === undefined || dialect !== 'mysql' || unable.has(write)) return null;
  const [lock, ...others] = takingOf(inputs.flatMap((input) => lane.locks(input)));
  // Of several rows each would bring its own moment.
  if (lock === undefined || lock.values.length > 1 || others.length > 0) return null;
  const guess = lane.guess(parts.tables(silent()), inputs);
  if (guess === null) return null;
  const { expected, from, before } = guess;
  const standIn = standInOf(Math.min(Math.max(Date.now(), from), before - 1));
  const decided = await decide(parts, lane, inputs, guess.early, standIn);
  if (decided === null) return null;
  const { outputs, last, signal } = decided;
  const now = await attempt(parts, { lock, expected, from, before, standIn, last }, signal);
  if (now === null) {
    guess.missed();
    return null;
  }
  signal();
  return outputs.map((output) => guess.dated(output, now));
}

/** Answers the moment of what was carried out, null where nothing was. */
async function attempt(
  { connections, log }: UnitParts,
  guessed: Guessed,
  signal: () => void,
): Promise<number | null> {
  const transaction = await begin(connections);
  try {
    if (transaction.attempt === undefined) {
      unable.add(connections.write);
      return null;
    }
    return await transaction.attempt(guessed);
  } catch (error) {
    if (leavesCommitOpen(error)) throw new CommitUnknown(error, signal);
    if (faultOf(error) !== 'other') throw error;
    log.warn({ err: fitForLog(error) }, 'a guess could not be carried out');
    return null;
  } finally {
    await transaction.rollBack();
  }
}

/** Runs the lane without a database: null when it wants to read, or fails, which it then does as ever. */
async function decide<Input, Output, Early>(
  parts: UnitParts,
  lane: Lane<Input, Output, Early>,
  inputs: readonly Input[],
  early: Early,
  now: number,
): Promise<Decided<Output> | null> {
  const executor = silent();
  const last: Statement[] = [];
  const signals: (() => void)[] = [];
  const tables = parts.tables(executor);
  try {
    const unit = makeUnit(parts, { executor, tables, now, last, signals });
    const outputs = await lane.run(unit, inputs, early);
    if (outputs.length !== inputs.length) return null;
    for (const mark of executor.marks) signals.push(() => parts.committed(mark));
    return { outputs, last, signal: () => signalAll(signals, parts.log) };
  } catch {
    return null;
  }
}

/** An executor that refuses whatever it is asked. */
function silent(): Executor {
  const refuse = (): never => {
    throw new Error('on a guess nothing is read');
  };
  return new Executor(
    {
      ask: async () => refuse(),
      get knex() {
        return refuse();
      },
    },
    'mysql',
  );
}
